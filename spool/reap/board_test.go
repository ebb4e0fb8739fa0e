package reap

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"xfer/spool/board"
)

// Eight writers append to one card while gc loops: every entry is in it, and a
// reader in a loop never sees a torn card.
func TestAppendsBesideGC(t *testing.T) {
	const writers = 8
	entries := 500
	if testing.Short() {
		entries = 20
	}
	w := newWorld(t)
	ctx := context.Background()
	_, _, err := board.Open(w.open()).Create(ctx, "plan", "Plan", "alice")
	w.must(err)

	// Those beside go on with every tenth entry: they are there to be in the way,
	// not to have the machine for themselves.
	var ticks [2]chan struct{}
	var beside, writing sync.WaitGroup
	for i, f := range []func(){
		func() { w.gc(Keep{Temp: time.Minute}) },
		func() {
			c, err := board.Open(w.open()).Read(ctx, "plan")
			if err != nil {
				t.Error(err)
				return
			}
			for i := range c.Entries {
				if text := c.Entries[i].Text(); !strings.HasPrefix(text, "entry ") || !strings.HasSuffix(text, " of it") {
					t.Errorf("torn: %q", text)
				}
			}
		},
	} {
		ticks[i] = make(chan struct{}, 1)
		beside.Go(func() {
			for range ticks[i] {
				f()
			}
		})
	}
	for i := range writers {
		writing.Go(func() {
			b := board.Open(w.open())
			for n := range entries {
				if _, err := b.Append(ctx, "plan", board.Draft{Author: "alice", Type: "note", Text: fmt.Sprintf("entry %d %d of it", i, n)}); err != nil {
					t.Error(err)
					return
				}
				if n%10 == 0 {
					tick(ticks[:])
				}
			}
		})
	}
	writing.Wait()
	for _, c := range ticks {
		close(c)
	}
	beside.Wait()
	c, err := board.Open(w.open()).Read(ctx, "plan")
	w.must(err)
	if len(c.Entries) != writers*entries {
		t.Errorf("%d entries, want %d", len(c.Entries), writers*entries)
	}
}

// tick lets those go on who are not at it still.
func tick(all []chan struct{}) {
	for _, c := range all {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
