package spool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Two receivers that start at once hold a name one after the other, however
// many look at it meanwhile; and who looks never takes another who looks for a
// holder.
func TestNameIsHeldByOne(t *testing.T) {
	const rounds, probers = 500, 4
	m := mailbox(t, newSpool(t, "bob"), "bob")
	if err := receive(t, m).Close(); err != nil { // the lock file is there from now on
		t.Fatal(err)
	}
	var holding atomic.Int32
	for range rounds {
		race(2+probers, func(i int) {
			if i >= 2 {
				if _, err := mailbox(t, m.s, "bob").Held(); err != nil {
					t.Error(err)
				}
				return
			}
			r, err := mailbox(t, m.s, "bob").Receive(context.Background(), ReceiverOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			if n := holding.Add(1); n != 1 {
				t.Errorf("%d hold the name", n)
			}
			wantHeld(t, m, true)
			holding.Add(-1)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
		race(probers, func(int) { wantHeld(t, m, false) })
		if t.Failed() {
			return
		}
	}
}

func wantHeld(t *testing.T, m *Mailbox, want bool) {
	t.Helper()
	if held, err := mailbox(t, m.s, m.name).Held(); err != nil || held != want {
		t.Errorf("held %t, %v; want %t", held, err, want)
	}
}

// A lock is what the kernel says, and nothing that stands in a file.
func TestLockFileThatNamesSomebody(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	for _, text := range []string{"1\n", "999999999\n", "held"} {
		for _, path := range []string{s.peerLock("bob"), s.claimLock("bob")} {
			put(t, path, []byte(text))
		}
		r, err := m.Receive(context.Background(), ReceiverOptions{})
		if err != nil {
			t.Fatalf("beside %q: %v", text, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever needs a lock that another has gives up within its time, and says
// who has it.
func TestLocksHeldElsewhere(t *testing.T) {
	ctx := context.Background()
	task := func(s *Spool) Draft { return Draft{From: "alice", To: "bob", Kind: Task, Subject: "s"} }
	for name, c := range map[string]struct {
		lock func(*Spool, ID) string
		do   func(*Mailbox, ID) error
	}{
		"receive": {func(s *Spool, _ ID) string { return s.peerLock("bob") }, func(m *Mailbox, _ ID) error {
			_, err := m.Receive(ctx, ReceiverOptions{})
			return err
		}},
		"remove": {func(s *Spool, _ ID) string { return s.peerLock("bob") }, func(m *Mailbox, _ ID) error { return m.Remove(ctx) }},
		"claim":  {func(s *Spool, _ ID) string { return s.claimLock("bob") }, func(m *Mailbox, _ ID) error { return m.MayWork(ctx, false) }},
		"change": {func(s *Spool, _ ID) string { return s.claimLock("bob") }, func(m *Mailbox, _ ID) error { return m.ChangePeer(ctx, func(*Peer) {}) }},
		"send an id": {func(s *Spool, id ID) string { return s.idLock(id) }, func(m *Mailbox, id ID) error {
			d := task(m.s)
			d.ID = id
			_, err := send(m.s, d, "body")
			return err
		}},
		"send under a key": {func(s *Spool, _ ID) string {
			return filepath.Join(s.lockDir(), "key."+keyHash("alice", "bob", "k")[:2])
		}, func(m *Mailbox, _ ID) error {
			_, err := send(m.s, keyed("bob", "k"), "body")
			return err
		}},
		"conclude": {func(s *Spool, id ID) string { return s.idLock(id.Conclusion()) }, func(m *Mailbox, id ID) error {
			_, _, err := conclude(m, id, Done, "x")
			return err
		}},
		"await": {func(s *Spool, id ID) string {
			if err := s.fs.Mkdir(s.awaitDir()); err != nil {
				panic(err)
			}
			return s.awaitFile(id)
		}, func(m *Mailbox, id ID) error {
			_, err := m.s.Awaiting(ctx, id)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpool(t, "alice", "bob")
			id := mustSend(t, s, task(s), "body")
			unlock, err := s.fs.LockFile(ctx, c.lock(s, id), true, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unlock()
			done := make(chan error, 1)
			go func() { done <- c.do(mailbox(t, s, "bob"), id) }()
			select {
			case err := <-done:
				wantErr(t, err, ErrLocked)
				if err == nil || !strings.Contains(err.Error(), "process ") {
					t.Errorf("%v does not say who has it", err)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("still waiting after half a minute")
			}
			unlock()
			if err := c.do(mailbox(t, s, "bob"), id); errors.Is(err, ErrLocked) && name != "remove" {
				t.Errorf("it is free by now: %v", err)
			}
		})
	}
}

// The old home's receiver steps down before it commits anything more.
func TestTakeoverStopsTheOld(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	r := receive(t, m)
	id := mustSend(t, s, note(""), "body")
	q, err := r.Arrivals(true)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := r.Next(context.Background(), q, 0)
	if err != nil || len(claims) != 1 {
		t.Fatalf("%v, %v", claims, err)
	}
	second, err := elsewhereOf(t, m).Receive(context.Background(), ReceiverOptions{Takeover: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	wantErr(t, r.Started(claims[0]), ErrLocked)
	wantErr(t, r.Received(claims), ErrLocked)
	wantFiles(t, m, "new", string(id))
	wantFiles(t, m, "cur")

	// It ends without touching the other's claim.
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	wantHome(t, m, there)
	if err := second.StillHome(); err != nil {
		t.Error(err)
	}
}

// A beat that comes late does not undo what Close has said.
func TestBeatAfterClose(t *testing.T) {
	m := mailbox(t, newSpool(t, "bob"), "bob")
	r := receive(t, m)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { _ = r.Beat(); _ = r.Working([]ID{"x"}) })
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	said, err := os.ReadFile(m.liveFile(here))
	for _, err := range []error{err, r.Beat(), r.Working(nil)} {
		if err != nil {
			t.Error(err)
		}
	}
	if now, err := os.ReadFile(m.liveFile(here)); err != nil || string(now) != string(said) {
		t.Errorf("after Close it says %s, %v", now, err)
	}
	wantVerdict(t, m, Sleeping, "stopped")
}
