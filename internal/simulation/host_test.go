package simulation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"xfer/spool"
	"xfer/spool/board"
	"xfer/spool/reap"
)

// A host is one machine.
type host struct {
	t    *testing.T
	name string
	dir  string     // its spool
	peer spool.Name // whose mailbox it works at first
	sys  *spool.System
	w    *world
}

// newHost has a clock that is wrong by skew, and that runs by steps.
func newHost(t *testing.T, w *world, dir, name string, peer spool.Name, skew time.Duration, seed uint64) *host {
	h := &host{t: t, dir: dir, name: name, peer: peer, w: w}
	sys := spool.NewSystem()
	sys.Sync = func(*os.File) error { return nil }
	sys.Rand = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24), byte(seed >> 32), name[0], name[4]})
	sys.Now = func() time.Time {
		w.clock = w.clock.Add(time.Millisecond)
		return w.clock.Add(skew)
	}
	sys.Wait = func(time.Duration) { w.meanwhile() }
	sys.Env = func(key string) string {
		if key == "XFER_HOST" {
			return name
		}
		return ""
	}
	h.sys = sys
	return h
}

func (h *host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Errorf("%s: %v", h.name, err)
		panic(failed{})
	}
}

// failed ends a schedule.
type failed struct{}

func (h *host) say(format string, args ...any) {
	h.w.trace = append(h.w.trace, h.name+" "+fmt.Sprintf(format, args...))
}

func (h *host) open() *spool.Spool {
	h.t.Helper()
	s, err := spool.Open(h.dir, h.sys)
	h.must(err)
	return s
}

func (h *host) mailbox(peer spool.Name) *spool.Mailbox {
	h.t.Helper()
	m, err := h.open().Mailbox(peer)
	h.must(err)
	return m
}

// draft writes a handoff, and is nil where its peer's mailbox has not come here
// yet.
func (h *host) draft(d spool.Draft) *spool.Delivery {
	d.Subject, d.Type = "about it", "text/plain"
	w, err := h.open().NewDelivery(d)
	if errors.Is(err, spool.ErrNoPeer) {
		return nil
	}
	h.must(err)
	_, err = io.WriteString(w, "the body")
	h.must(err)
	return w
}

// send delivers a handoff from one peer to the other.
func (h *host) send(from, to spool.Name, kind spool.Kind) spool.ID {
	d := h.draft(spool.Draft{From: from, To: to, Kind: kind})
	if d == nil {
		return ""
	}
	defer d.Abort()
	r, err := d.Commit(context.Background())
	h.must(err)
	h.w.sent[r.ID] = &sent{kind: kind, from: from, to: to, on: h}
	h.w.order = append(h.w.order, r.ID)
	h.say("sends %s %s to %s: %s", kind, r.ID, to, r.Outcome)
	return r.ID
}

// crashSend leaves a delivery half done: written only, or registered too, as a
// crash between the link and the publish does. That one is completed later by
// sending it again.
func (h *host) crashSend(r *rand.Rand, from, to spool.Name) {
	if r.IntN(2) == 0 {
		if d := h.draft(spool.Draft{From: from, To: to, Kind: spool.Notification}); d != nil {
			h.say("crashes while it writes %s", d.ID())
		}
		return
	}
	id := h.send(from, to, spool.Notification)
	if id == "" {
		return
	}
	m := h.mailbox(to)
	h.must(os.Rename(m.Path(spool.New, id), filepath.Join(filepath.Dir(m.PlaceDir(spool.New)), "tmp", string(id)+".crash")))
	h.w.orphans = append(h.w.orphans, id)
	h.say("crashes before it publishes %s", id)
}

// again sends an id again that was sent from here before: a replay.
func (h *host) again(id spool.ID) {
	s := h.w.sent[id]
	d := h.draft(spool.Draft{ID: id, From: s.from, To: s.to, Kind: s.kind})
	if d == nil {
		return
	}
	defer d.Abort()
	r, err := d.Commit(context.Background())
	if errors.Is(err, spool.ErrUnknown) { // neither name for a moment
		h.say("sends %s again: %v", id, err)
		return
	}
	h.must(err)
	h.say("sends %s again: %s, replayed %v", id, r.Outcome, r.Replayed)
}

// works tells whether the host may work the peer's mailbox.
func (h *host) works(peer spool.Name, takeover bool) bool {
	err := h.mailbox(peer).MayWork(context.Background(), takeover)
	if errors.Is(err, spool.ErrElsewhere) || errors.Is(err, spool.ErrNoPeer) {
		return false
	}
	h.must(err)
	return true
}

// take hands out at most one handoff.
func (h *host) take(peer spool.Name, crash bool) bool {
	if !h.works(peer, false) {
		return false
	}
	q, err := h.mailbox(peer).Queue(spool.Filter{})
	h.must(err)
	c, err := q.Next(context.Background())
	for _, note := range q.Notes() {
		h.say("as %s: %s", peer, note)
	}
	if errors.Is(err, io.EOF) {
		return false
	}
	h.must(err)
	defer c.Release()
	if crash {
		h.say("crashes before it has taken %s", c.ID)
		return false
	}
	h.must(c.Taken(""))
	h.w.took(c)
	h.say("takes %s %s as %s", c.Kind, c.ID, peer)
	return true
}

// conclude ends the oldest tasks that were taken, up to limit (0: all), and
// tells whether any of them was not concluded before. With crash it ends between
// the conclusion and the task's move.
func (h *host) conclude(peer spool.Name, limit int, crash bool) (ended bool) {
	if !h.works(peer, false) {
		return false
	}
	m := h.mailbox(peer)
	l, err := m.List(context.Background(), []spool.Place{spool.Work}, spool.Filter{}, "", limit)
	h.must(err)
	for _, task := range l.Handoffs {
		ended = h.concludeOne(m, task, crash) || ended
	}
	return ended
}

func (h *host) concludeOne(m *spool.Mailbox, task spool.Listed, crash bool) bool {
	w, err := m.Conclude(task.ID, spool.Done, spool.Draft{Type: "text/plain"})
	if errors.Is(err, spool.ErrNoHandoff) || errors.Is(err, spool.ErrLocked) { // the sync tool was faster
		h.say("cannot conclude %s: %v", task.ID, err)
		return false
	}
	h.must(err)
	defer w.Abort()
	_, err = fmt.Fprintf(w, "done %s", task.ID)
	h.must(err)
	var report spool.Report
	if crash {
		report, err = w.Delivery.Commit(context.Background())
	} else {
		report, _, err = w.Commit(context.Background())
	}
	if errors.Is(err, spool.ErrUnknown) {
		h.say("concludes %s: %v", task.ID, err)
		return !crash
	}
	h.must(err)
	h.say("concludes %s as %s, crash %v, replayed %v", task.ID, m.Name(), crash, report.Replayed)
	return !crash && !report.Replayed
}

// offer releases the oldest task that was taken.
func (h *host) offer(peer spool.Name) {
	if !h.works(peer, false) {
		return
	}
	m := h.mailbox(peer)
	l, err := m.List(context.Background(), []spool.Place{spool.Work}, spool.Filter{}, "", 1)
	h.must(err)
	if len(l.Handoffs) == 0 {
		return
	}
	id := l.Handoffs[0].ID
	if _, err := m.Offer(context.Background(), id); err != nil {
		h.say("cannot release %s: %v", id, err)
		return
	}
	if s := h.w.sent[id]; s != nil {
		s.released++
	}
	h.say("releases %s", id)
}

// append adds an entry to the one card there is.
func (h *host) append(text string) {
	_, err := board.Open(h.open()).Append(context.Background(), card, board.Draft{Type: "note", Author: h.peer, Text: text})
	if errors.Is(err, spool.ErrNoCard) {
		return
	}
	h.must(err)
	h.w.entries = append(h.w.entries, text)
	h.say("appends %q", text)
}

// gc clears away what has had its time: what is finished at once, so that ids
// have to outlive their handoffs.
func (h *host) gc(temp time.Duration) {
	s := h.open()
	r, err := s.Reap(context.Background())
	h.must(err)
	defer r.Close()
	keep := reap.DefaultKeep()
	keep.Done, keep.Temp = 0, temp
	sweep := &reap.Sweep{R: r, S: s, Keep: keep, Now: func() time.Time { return time.Now().Add(time.Second) }, Tell: func(d reap.Done) {
		h.say("gc %s %s %s: %s %v", d.Kind, d.Place, d.Name, d.Did, d.Err)
	}}
	h.must(sweep.Run(context.Background()))
}

// look reads all that a look reads; nothing of it may fail.
func (h *host) look(peer spool.Name) {
	m := h.mailbox(peer)
	_, err := m.List(context.Background(), spool.Places, spool.Filter{}, "", 0)
	h.must(err)
	_, err = m.Judge(true)
	h.must(err)
	for _, id := range h.w.order[max(0, len(h.w.order)-20):] {
		if _, err := h.open().Locate(id); err != nil && !errors.Is(err, spool.ErrNoHandoff) {
			h.must(err)
		}
	}
}
