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

	ended := make(chan struct{})
	var beside, writing sync.WaitGroup
	for _, f := range []func(){
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
		beside.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
					f()
				}
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
			}
		})
	}
	writing.Wait()
	close(ended)
	beside.Wait()
	c, err := board.Open(w.open()).Read(ctx, "plan")
	w.must(err)
	if len(c.Entries) != writers*entries {
		t.Errorf("%d entries, want %d", len(c.Entries), writers*entries)
	}
}
