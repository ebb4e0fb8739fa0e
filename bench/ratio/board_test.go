//go:build ratio

package ratio

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"xfer/bench/loops"
	"xfer/spool"
	"xfer/spool/board"
)

const (
	cardSize    = 100 << 10
	boardPairs  = 300
	boardWarm   = 20
	boardLimit  = 1.5 // an append, in bare loops
	entryFormat = "\n### 01kb9w6t3v8f5s7q2m4x%06d · note · alice · 2026-11-30T06:33:33Z\n\n%s\n"
	line        = "a line of a usual length, about what one would say"
)

// TestAppendBesideBareLoop holds an append to its price beside a loop that does
// the same work with no care at all: lock, read, write, fsync, rename, fsync of
// the directory; in turn with it, both on a card of 100 KiB.
func TestAppendBesideBareLoop(t *testing.T) {
	var seen, rates []float64
	for range tries {
		ratio, rate := appendBesideBareLoop(t)
		seen, rates = append(seen, ratio), append(rates, rate)
		if median(seen) <= boardLimit {
			break
		}
	}
	t.Logf("append: × %.2f, at most %.1f; %.0f a second", seen, boardLimit, rates)
	if median(seen) > boardLimit {
		t.Errorf("append: × %.2f, the median of which is over %.1f", seen, boardLimit)
	}
}

// appendBesideBareLoop is the median ratio of the pairs, and how many appends a
// second their median makes.
func appendBesideBareLoop(t *testing.T) (ratio, rate float64) {
	b, _ := bigCard(t)
	_, bare := bigCard(t)
	lock, err := os.Create(filepath.Join(filepath.Dir(bare), "..", "local", "lock", "bare"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	var ratios, times []float64
	for i := range boardWarm + boardPairs {
		begin := time.Now()
		if _, err := b.Append(context.Background(), "plan", board.Draft{Type: "note", Author: "alice", Text: line}); err != nil {
			t.Fatal(err)
		}
		middle := time.Now()
		if err := loops.Append(lock, bare, fmt.Sprintf(entryFormat, 100000+i, line)); err != nil {
			t.Fatal(err)
		}
		end := time.Now()
		if i >= boardWarm {
			ratios = append(ratios, float64(middle.Sub(begin))/float64(end.Sub(middle)))
			times = append(times, middle.Sub(begin).Seconds())
		}
	}
	slices.Sort(ratios)
	slices.Sort(times)
	return ratios[boardPairs/2], 1 / times[boardPairs/2]
}

// bigCard is a board in a spool of its own, and the path of its card "plan",
// which has cardSize bytes.
func bigCard(t *testing.T) (b *board.Board, path string) {
	t.Helper()
	sys := spool.NewSystem()
	sys.Host = func() (spool.Host, error) { return "here-00000001", nil }
	s, err := spool.OpenOrCreate(filepath.Join(t.TempDir(), "spool"), sys)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("---\nid: plan\ntitle: The plan\n---\n")
	for i := 0; text.Len() < cardSize; i++ {
		fmt.Fprintf(&text, entryFormat, i, line)
	}
	b = board.Open(s)
	path = b.Path("plan")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return b, path
}
