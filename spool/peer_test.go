package spool

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func change(t *testing.T, m *Mailbox, how func(*Peer)) {
	t.Helper()
	if err := m.MendPeer(context.Background(), how); err != nil {
		t.Fatal(err)
	}
}

func TestPolicyTurnsDown(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	id := newID(t, s)
	mustSend(t, s, note(id), "body")
	change(t, m, func(p *Peer) { p.Only = []Name{"carol"} })

	_, err := send(s, note(""), "body")
	wantErr(t, err, ErrRefused)
	_, err = send(s, note(newID(t, s)), "body")
	wantErr(t, err, ErrRefused)
	_, err = send(s, keyed("bob", "k"), "body")
	wantErr(t, err, ErrRefused)
	wantFiles(t, m, "new", string(id))
	wantFiles(t, m, "tmp")
	if names, err := readNames(s.keyDir()); err != nil || len(names) > 0 {
		t.Errorf("left the keys %q, %v", names, err)
	}

	// What was sent before is answered for.
	if r, err := send(s, note(id), "body"); err != nil || !r.Replayed || r.Outcome != Queued {
		t.Errorf("again: %+v, %v", r, err)
	}
	_, err = send(s, note(id), "other")
	wantErr(t, err, ErrConflict)

	change(t, m, func(p *Peer) { p.Only = append(p.Only, "alice") })
	mustSend(t, s, note(""), "body")
}

// What was written and never published is not let in by being sent again.
func TestPolicyBesideWhatWasNotPublished(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	id := newID(t, s)
	mustSend(t, s, note(id), "body")
	if err := os.Rename(m.file(New, id), m.tmpFile(id, "0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	change(t, m, func(p *Peer) { p.Only = []Name{"carol"} })
	_, err := send(s, note(id), "body")
	wantErr(t, err, ErrRefused)
	wantFiles(t, m, "new")
}

func TestMaxQueued(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	change(t, m, func(p *Peer) { p.MaxQueued = 3 })
	var last ID
	for range 3 {
		last = mustSend(t, s, note(newID(t, s)), "body")
	}
	_, err := send(s, note(""), "body")
	wantErr(t, err, ErrFull)
	wantCount(t, m, "new", 3)
	if r, err := send(s, note(last), "body"); err != nil || !r.Replayed {
		t.Errorf("again into a full mailbox: %+v, %v", r, err)
	}
	takeAll(t, m)
	mustSend(t, s, note(""), "body")
	change(t, m, func(p *Peer) { p.MaxQueued = 0 })
	for range 5 {
		mustSend(t, s, note(""), "body")
	}
}

func TestHoldLeavesWhatIsQueued(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	change(t, m, func(p *Peer) { p.Hold = true })
	r, err := send(s, note(""), "body")
	if err != nil || r.Outcome != Held {
		t.Errorf("%+v, %v", r, err)
	}
	if bodies, _ := takeAll(t, m); len(bodies) > 0 {
		t.Errorf("took %v", bodies)
	}
	rec := receive(t, m)
	if q, err := rec.Arrivals(true); err != nil || len(q.entries) > 0 {
		t.Errorf("received %v, %v", q.entries, err)
	}
	change(t, m, func(p *Peer) { p.Hold = false })
	if q, err := rec.Arrivals(true); err != nil || len(q.entries) != 1 {
		t.Errorf("after the hold: %v, %v", q.entries, err)
	}
}

// A policy that is not known lets nobody in, until it is written again; a
// conclusion passes.
func TestUnreadablePolicyLetsNobodyIn(t *testing.T) {
	for name, spoil := range map[string]func(*testing.T, *Mailbox){
		"cut":           func(t *testing.T, m *Mailbox) { put(t, m.peerFile(), []byte(`{"only":["ali`)) },
		"empty":         func(t *testing.T, m *Mailbox) { put(t, m.peerFile(), nil) },
		"conflict copy": func(t *testing.T, m *Mailbox) { put(t, conflictCopy(m), []byte(`{"hold":true}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpool(t, "alice", "bob")
			m := mailbox(t, s, "bob")
			asked := mustSend(t, s, Draft{From: "bob", To: "alice", Kind: Task, Subject: "s"}, "body")
			spoil(t, m)
			_, err := send(s, note(""), "body")
			wantErr(t, err, ErrMalformed)
			_, err = m.Queue(Filter{})
			wantErr(t, err, ErrMalformed)
			if r := concludes(t, mailbox(t, s, "alice"), asked, Done); r.Outcome != Queued {
				t.Errorf("its conclusion: %+v", r)
			}
			change(t, m, func(p *Peer) { p.Description = "mended" })
			if _, err := os.Lstat(conflictCopy(m)); !os.IsNotExist(err) {
				t.Errorf("the conflict copy is still there: %v", err)
			}
			mustSend(t, s, note(""), "body")
		})
	}
}

func conflictCopy(m *Mailbox) string {
	return filepath.Join(m.dir, "peer.sync-conflict-20261130-170000-ABCDEFG.json")
}

// concludes ends a task that stands in m, from wherever it stands.
func concludes(t *testing.T, m *Mailbox, task ID, e Ending) Report {
	t.Helper()
	w, err := m.Conclude(task, e, Draft{Type: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := w.Write([]byte("it is " + string(e))); err != nil {
		t.Fatal(err)
	}
	r, moved, err := w.Commit(context.Background())
	if err != nil || !moved {
		t.Fatalf("moved %t, %v", moved, err)
	}
	return r
}

func TestConclusionPassesPolicyHoldAndLimits(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	asker := mailbox(t, s, "alice")
	mustSend(t, s, Draft{From: "bob", To: "alice", Kind: Notification, Subject: "s"}, "fills it")
	task := note("")
	task.Kind = Task
	id := mustSend(t, s, task, "body")
	change(t, asker, func(p *Peer) { *p = Peer{Only: []Name{"carol"}, Hold: true, MaxQueued: 1} })
	concludes(t, mailbox(t, s, "bob"), id, Blocked)
	if _, err := os.Lstat(asker.file(New, id.Conclusion())); err != nil {
		t.Error(err)
	}
}

// Where the asker was removed the task still ends: the conclusion stays with
// the taker, says so, and is found there.
func TestConclusionForARemovedAsker(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	taker := mailbox(t, s, "bob")
	task := note("")
	task.Kind = Task
	id := mustSend(t, s, task, "body")
	if err := mailbox(t, s, "alice").Remove(context.Background()); err != nil {
		t.Fatal(err)
	}
	r := concludes(t, taker, id, Done)
	if r.Outcome != Refused || !strings.Contains(r.Detail, "was removed") {
		t.Errorf("%+v", r)
	}
	wantFiles(t, taker, "done", string(id))
	wantFiles(t, taker, "bad", string(id.Conclusion()))
	wantFiles(t, mailbox(t, s, "alice"), "new")
	if h, err := s.ConclusionOf(&Header{ID: id, From: "alice", To: "bob"}); err != nil || h == nil || h.Ending != Done {
		t.Errorf("found %v, %v", h, err)
	}

	if _, _, err := s.Create(context.Background(), "alice", ""); err != nil {
		t.Fatal(err)
	}
	a, _, err := mailbox(t, s, "alice").Conclusion(id, "bob")
	if err != nil || a == nil || a.Ending != Done {
		t.Fatalf("awaited %v, %v", a, err)
	}
	defer a.Close()
	if err := a.Finish(); err != nil {
		t.Error(err)
	}
	wantFiles(t, taker, "bad", string(id.Conclusion()))
}

func TestRemove(t *testing.T) {
	ctx := context.Background()
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	id, dead := newID(t, s), newID(t, s)
	mustSend(t, s, note(id), "body")
	wantErr(t, m.Remove(ctx), ErrLocked) // something is queued
	takeAll(t, m)
	mustSend(t, s, note(dead), "dead")
	c, err := m.ClaimID(ctx, dead)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.DeadLetter("why"); err != nil {
		t.Fatal(err)
	}
	c.Release()
	put(t, filepath.Join(m.placeDir(Finished), "stray"), nil)

	r := receive(t, m)
	wantErr(t, m.Remove(ctx), ErrLocked) // a receiver lives
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	wantErr(t, elsewhereOf(t, m).Remove(ctx), ErrElsewhere)
	if err := m.Remove(ctx); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, m, "done", "stray")
	if names, err := readNames(m.placeDir(Bad)); err != nil || len(names) > 0 {
		t.Errorf("bad/ holds %q, %v", names, err)
	}

	// A new one is refused; what was sent before is answered for.
	_, err = send(s, note(""), "body")
	wantErr(t, err, ErrRefused)
	_, err = send(s, note(newID(t, s)), "body")
	wantErr(t, err, ErrRefused)
	if r, err := send(s, note(id), "body"); err != nil || r.Outcome != Delivered || !r.Replayed {
		t.Errorf("again: %+v, %v", r, err)
	}
	if r, err := send(s, note(dead), "dead"); err != nil || r.Outcome != Refused {
		t.Errorf("the dead letter again: %+v, %v", r, err)
	}
	_, err = send(s, note(id), "other")
	wantErr(t, err, ErrConflict)
	wantErr(t, m.Removed(), ErrNoPeer)
	wantFiles(t, m, "tmp")

	// What a late sync brings back is no longer delivered.
	put(t, m.file(New, id), onDisk(id, func(h *Header) { h.Size, h.Digest = 4, digest("body") }, "body"))
	if _, made, err := s.Create(ctx, "bob", ""); err != nil || made {
		t.Errorf("created: made %t, %v", made, err)
	}
	if err := m.Removed(); err != nil {
		t.Error(err)
	}
	if bodies, notes := takeAll(t, mailbox(t, s, "bob")); len(bodies) > 0 || !strings.Contains(notes, "already handled") {
		t.Errorf("took %v; %s", bodies, notes)
	}
	mustSend(t, s, note(""), "body")
}

func digest(body string) (d Digest) {
	d, _ = digestOf(strings.NewReader(body))
	return d
}

// A claim that yields does so no more once its own host works the mailbox.
func TestPeerFileClaimHardens(t *testing.T) {
	m := mailbox(t, newSpool(t, "bob"), "bob")
	change(t, m, func(p *Peer) { p.Hold = true })
	if err := mayWork(m, false); err != nil {
		t.Fatal(err)
	}
	wantErr(t, mayWork(elsewhereOf(t, m), false), ErrElsewhere)
	wantHome(t, m, here)
}

// A mailbox that nobody has claimed is claimed by who changes it, and yielded
// to the first that works it, on any host.
func TestPeerFileClaimYields(t *testing.T) {
	m := mailbox(t, newSpool(t, "bob"), "bob")
	change(t, m, func(p *Peer) { p.Hold = true })
	wantHome(t, m, here)
	theirs := elsewhereOf(t, m)
	wantErr(t, theirs.ChangePeer(context.Background(), func(*Peer) {}), ErrElsewhere)
	if err := mayWork(theirs, false); err != nil {
		t.Errorf("the first to work it: %v", err)
	}
	wantHome(t, m, there)
	m.forget()
	wantErr(t, mayWork(m, false), ErrElsewhere)
	wantErr(t, m.ChangePeer(context.Background(), func(*Peer) {}), ErrElsewhere)
}
