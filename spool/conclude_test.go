package spool

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
)

// aTask is a task from alice to bob, taken where take says so.
func aTask(t *testing.T, take bool) (s *Spool, m *Mailbox, id ID) {
	s = newSpool(t, "alice", "bob")
	id = mustSend(t, s, Draft{From: "alice", To: "bob", Kind: Task, Subject: "s"}, "body")
	m = mailbox(t, s, "bob")
	if take {
		takeAll(t, m)
	}
	return s, m, id
}

func conclude(m *Mailbox, id ID, e Ending, body string) (Report, bool, error) {
	w, err := m.Conclude(id, e, Draft{Type: "text/plain"})
	if err != nil {
		return Report{}, false, err
	}
	defer w.Abort()
	if _, err := io.WriteString(w, body); err != nil {
		return Report{}, false, err
	}
	return w.Commit(context.Background())
}

func TestConclude(t *testing.T) {
	for _, take := range []bool{false, true} {
		s, m, id := aTask(t, take)
		for i, replayed := range []bool{false, true} {
			r, moved, err := conclude(m, id, Blocked, "why")
			if err != nil || !moved || r.ID != id.Conclusion() || r.To != "alice" || r.Replayed != replayed {
				t.Errorf("taken %t, time %d: %+v, moved %t, %v", take, i, r, moved, err)
			}
			wantFiles(t, m, "done", string(id))
		}
		alice := mailbox(t, s, "alice")
		wantFiles(t, alice, "new", string(id.Conclusion()))
		c, err := alice.ClaimID(t.Context(), id.Conclusion())
		if err != nil {
			t.Fatal(err)
		}
		if c.InReplyTo != id || c.Ending != Blocked || c.From != "bob" || c.Conversation() != id || c.Subject != "Re: s" {
			t.Errorf("the conclusion is %+v", c.Header)
		}
		c.Release()
	}
}

func TestConcludeOtherwise(t *testing.T) {
	s, m, id := aTask(t, true)
	if _, _, err := conclude(m, id, Done, "first"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		e    Ending
		body string
	}{{Done, "other"}, {Blocked, "first"}} {
		_, _, err := conclude(m, id, c.e, c.body)
		wantErr(t, err, ErrConcluded)
		if err != nil && !strings.Contains(err.Error(), "concluded done ") {
			t.Errorf("%v: want the first one named", err)
		}
	}
	if bodies, _ := takeAll(t, mailbox(t, s, "alice")); bodies[id.Conclusion()] != "first" {
		t.Errorf("concluded with %q", bodies)
	}
	wantFiles(t, mailbox(t, s, "alice"), "tmp")
}

// A conclusion that was written and not published is published before the task
// is handed out, and ends it.
func TestConclusionThatWasNotPublished(t *testing.T) {
	s, m, id := aTask(t, false)
	crash(t, s, Draft{ID: id.Conclusion(), From: "bob", To: "alice", Kind: Conclusion, Ending: Done, InReplyTo: id, Subject: "s"}, "result")
	bodies, notes := takeAll(t, m)
	if len(bodies) != 0 {
		t.Errorf("handed out: %q", bodies)
	}
	wantNote(t, notes, "already concluded (done)")
	wantFiles(t, m, "done", string(id))
	wantFiles(t, mailbox(t, s, "alice"), "new", string(id.Conclusion()))
}

// What stands under a conclusion's id and is not the task's conclusion ends
// nothing.
func TestConclusionThatIsNone(t *testing.T) {
	for name, change := range map[string]func(h *Header, task ID){
		"a notification":  func(h *Header, task ID) { h.Kind, h.Ending = Notification, "" },
		"of another task": func(h *Header, task ID) { h.InReplyTo = anID },
		"by another peer": func(h *Header, task ID) { h.From = "carol" },
	} {
		t.Run(name, func(t *testing.T) {
			s, m, id := aTask(t, false)
			alice := mailbox(t, s, "alice")
			put(t, alice.file(New, id.Conclusion()), onDisk(id.Conclusion(), func(h *Header) {
				h.From, h.To, h.Kind, h.Ending, h.InReplyTo = "bob", "alice", Conclusion, Done, id
				change(h, id)
			}, "x"))
			_, _, err := conclude(m, id, Done, "result")
			wantErr(t, err, ErrConflict)
			if bodies, _ := takeAll(t, m); bodies[id] != "body" {
				t.Errorf("handed out: %q", bodies)
			}
			wantFreed(t, s, 1)
			if _, moved, err := conclude(m, id, Done, "result"); !moved || err != nil {
				t.Errorf("concluded: %t, %v", moved, err)
			}
			wantFreed(t, s, 0)
		})
	}
}

func TestConcludeRefuses(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	_, _, err := conclude(m, mustSend(t, s, note(""), "body"), Done, "x")
	wantErr(t, err, ErrNotATask)
	_, _, err = conclude(m, anID, Done, "x")
	wantErr(t, err, ErrNoHandoff)
	id := mustSend(t, s, Draft{From: "alice", To: "bob", Kind: Task, Subject: "s"}, "body")
	_, err = m.Seen(id)
	wantErr(t, err, ErrIsATask)
	_, err = m.Offer(t.Context(), id)
	wantErr(t, err, ErrTaken)
}

func TestConcludeRace(t *testing.T) {
	for range 20 {
		s, m, id := aTask(t, true)
		var fresh, failed atomic.Int32
		race(8, func(i int) {
			r, _, err := conclude(m, id, Done, "result")
			switch {
			case err != nil:
				failed.Add(1)
				t.Error(err)
			case !r.Replayed:
				fresh.Add(1)
			}
		})
		if fresh.Load() != 1 || failed.Load() != 0 {
			t.Errorf("%d were the first, %d failed", fresh.Load(), failed.Load())
		}
		wantFiles(t, mailbox(t, s, "alice"), "new", string(id.Conclusion()))
		wantFiles(t, mailbox(t, s, "alice"), "tmp")
		wantFiles(t, m, "done", string(id))
	}
}

// A reader passes an awaited conclusion over, and the waiter gets it.
func TestConclusionThatIsAwaited(t *testing.T) {
	s, m, id := aTask(t, true)
	alice := mailbox(t, s, "alice")
	stop, err := s.Awaiting(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := conclude(m, id, NeedsInput, "which?"); err != nil {
		t.Fatal(err)
	}
	if bodies, _ := takeAll(t, alice); len(bodies) != 0 {
		t.Errorf("taken from under its waiter: %q", bodies)
	}
	_, err = alice.ClaimID(t.Context(), id.Conclusion())
	wantErr(t, err, ErrLocked)
	a, again, err := alice.Conclusion(id, "bob")
	if err != nil || a == nil || again || a.Ending != NeedsInput {
		t.Fatalf("%v, again %t, %v", a, again, err)
	}
	a.Close() // not handed out whole
	stop()
	if bodies, _ := takeAll(t, alice); bodies[id.Conclusion()] != "which?" {
		t.Errorf("nobody waits any more: %q", bodies)
	}
	if n := count(t, s.awaitDir()); n != 0 {
		t.Errorf("%d files left by the waiter", n)
	}
}
