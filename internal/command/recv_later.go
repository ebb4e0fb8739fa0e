package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	"xfer/spool"
)

// What a receiver with a COMMAND does beside starting handlers: it keeps in
// mind what is to be tried later, and says which handlers run.

// A soon is when an arrival is looked at again although nothing more came.
type soon int

const (
	later    soon = iota // with the next rescan
	inAWhile             // when what is in the way may be gone
	atOnce
)

// tryLater has the receiver find id again at a time.
func (h *handling) tryLater(r *spool.Receiver, id spool.ID, at time.Time) {
	h.mu.Lock()
	h.left = true
	h.mu.Unlock()
	r.Pass(id)
	time.AfterFunc(at.Sub(h.Process.System.Now()), func() {
		r.Offer(id)
		h.lookAgain()
	})
}

// lookAgain wakes the receiver, which then looks at everything.
func (h *handling) lookAgain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watch != nil {
		h.watch.Nudge()
	}
}

// attach gives the handling what wakes the receiver.
func (h *handling) attach(w *spool.Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watch = w
}

// runs notes that a handler runs, or does no longer.
func (h *handling) runs(j *job, yes bool) {
	h.mu.Lock()
	if yes {
		h.running[j.c.ID] = j
	} else {
		delete(h.running, j.c.ID)
	}
	h.changed[j.r] = true
	h.mu.Unlock()
	select {
	case h.tell <- struct{}{}:
	default:
	}
}

// tellEvery is how often it is said at most which handlers run.
const tellEvery = 200 * time.Millisecond

// keepTelling says which handlers run, off the way of what arrives, until ctx
// ends.
func (h *handling) keepTelling(ctx context.Context, as string) {
	for {
		select {
		case <-h.tell:
			h.told(as)
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(tellEvery):
		case <-ctx.Done():
			return
		}
	}
}

// told says for whoever looks which handlers run.
func (h *handling) told(as string) {
	h.mu.Lock()
	running := make(map[*spool.Receiver][]spool.ID)
	for r := range h.changed {
		running[r] = nil
	}
	clear(h.changed)
	for id, j := range h.running {
		if ids, changed := running[j.r]; changed {
			running[j.r] = append(ids, id)
		}
	}
	working := len(h.running)
	h.mu.Unlock()
	h.tellService(fmt.Sprintf("STATUS=receiving as %s; %d running", as, working))
	for r, ids := range running {
		slices.Sort(ids)
		_ = r.Working(ids) // for people; nothing depends on it
	}
}
