//go:build ratio

package ratio

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xfer/spool"
)

const (
	sentMany  = 100_000
	sentOpen  = 100 // of them
	sentPairs = 9
	sentWarm  = 1
	sentLimit = 3.0 // in times of a walk of local/ids
)

// TestOpenBesideWalk holds the list of open tasks, where a host has sent many
// handoffs, half of them notifications, and nearly all tasks are concluded, to
// its price beside a walk of the registry that looks at each name.
func TestOpenBesideWalk(t *testing.T) {
	s, ids := sentSpool(t)
	var seen []float64
	for range tries {
		seen = append(seen, openBesideWalk(t, s, ids))
		if median(seen) <= sentLimit {
			break
		}
	}
	t.Logf("open tasks of %d sent: × %.2f a walk, at most %.1f", sentMany, seen, sentLimit)
	if median(seen) > sentLimit {
		t.Errorf("open tasks of %d sent: × %.2f, the median of which is over %.1f", sentMany, seen, sentLimit)
	}
}

func openBesideWalk(t *testing.T, s *spool.Spool, ids string) float64 {
	var ratios []float64
	for i := range sentWarm + sentPairs {
		begin := time.Now()
		open, err := s.OpenTasks(context.Background(), "alice")
		if err != nil || len(open) != sentOpen {
			t.Fatalf("%d are open, %v; want %d", len(open), err, sentOpen)
		}
		middle := time.Now()
		if n := walk(t, ids); n != sentMany {
			t.Fatalf("walked past %d names", n)
		}
		if i >= sentWarm {
			ratios = append(ratios, float64(middle.Sub(begin))/float64(time.Since(middle)))
		}
	}
	return median(ratios)
}

// walk looks at every name in the registry.
func walk(t *testing.T, ids string) (n int) {
	shards, err := os.ReadDir(ids)
	if err != nil {
		t.Fatal(err)
	}
	for _, shard := range shards {
		dir, err := os.Open(filepath.Join(ids, shard.Name()))
		if err != nil {
			t.Fatal(err)
		}
		names, err := dir.Readdirnames(-1)
		_ = dir.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if _, err := os.Lstat(filepath.Join(ids, shard.Name(), name)); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	return n
}

const sentFile = `From: alice@bench-00000000
To: bob@xfer
Subject: a yardstick
Date: Mon, 30 Nov 2026 06:33:33 +0000
Message-ID: <%s@xfer>
MIME-Version: 1.0
Content-Type: text/markdown; charset=utf-8
Content-Transfer-Encoding: 8bit
Xfer-Kind: %s
Xfer-Cwd: /home/alice/a/directory/of/a/usual/length
Xfer-Size: %012d
Xfer-Digest: sha256:%x

%s`

// sentSpool is a spool as it looks after many sends, and its registry.
func sentSpool(t *testing.T) (s *spool.Spool, ids string) {
	t.Helper()
	sys := spool.NewSystem()
	sys.Host = func() (spool.Host, error) { return "here-00000001", nil }
	dir := filepath.Join(t.TempDir(), "spool")
	s, err := spool.OpenOrCreate(dir, sys)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []spool.Name{"alice", "bob"} {
		if _, _, err := s.MakeMailbox(n); err != nil {
			t.Fatal(err)
		}
	}
	ids = filepath.Join(dir, "local", "ids")
	body := strings.Repeat("a line of a body of the usual length\n", 20)
	sum := sha256.Sum256([]byte(body))
	for i := range sentMany {
		id, err := sys.NewID()
		if err != nil {
			t.Fatal(err)
		}
		kind := spool.Notification
		if i%2 == 0 {
			kind = spool.Task
		}
		file := filepath.Join(dir, "peers", "bob", "done", string(id))
		link := filepath.Join(ids, string(id[24:]), string(id))
		err = os.WriteFile(file, fmt.Appendf(nil, sentFile, id, kind, len(body), sum, body), 0o600)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(link), 0o700)
		}
		if err == nil {
			err = os.Link(file, link)
		}
		if err == nil && kind == spool.Task && i >= 2*sentOpen {
			err = os.WriteFile(filepath.Join(dir, "peers", "alice", "done", string(id.Conclusion())), nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s, ids
}
