package spool

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// live writes what h says of itself in the mailbox, as a sync tool brings it.
func live(t *testing.T, m *Mailbox, h Host, l *Live) {
	t.Helper()
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(m.liveDir(), privateDir); err != nil {
		t.Fatal(err)
	}
	put(t, m.liveFile(h), b)
	m.forget()
}

// beating is a receiver that gave a sign of life at a time.
func beating(at time.Time) *Live {
	return &Live{Claim: 7, State: Idle, PID: 1, BootID: bootID(), BeatAt: &at, Interval: 60}
}

func TestVerdicts(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name     string
		given    func(*testing.T, *Mailbox)
		want     Verdict
		evidence string
	}{
		{"nobody ever", func(*testing.T, *Mailbox) {}, NoRunner, "nobody has claimed"},
		{"claimed by a take", func(t *testing.T, m *Mailbox) {
			if err := mayWork(m, false); err != nil {
				t.Fatal(err)
			}
		}, NoRunner, "without a receiver"},
		{"held here", func(t *testing.T, m *Mailbox) { receive(t, m) }, Running, "holds the lock peer.bob"},
		{"stopped here", func(t *testing.T, m *Mailbox) {
			if err := receive(t, m).Close(); err != nil {
				t.Fatal(err)
			}
		}, Sleeping, "says that it stopped"},
		{"gone from here", func(t *testing.T, m *Mailbox) { live(t, m, here, beating(now)) }, Crashed, "the lock peer.bob is free"},
		{"beating elsewhere", func(t *testing.T, m *Mailbox) { live(t, m, there, beating(now)) }, Running, "last gave a sign of life"},
		{"stopped elsewhere", func(t *testing.T, m *Mailbox) {
			l := beating(now.Add(-time.Hour))
			l.State = Stopped
			live(t, m, there, l)
		}, Sleeping, "says that it stopped"},
		{"an old beat, just come", func(t *testing.T, m *Mailbox) { live(t, m, there, beating(now.Add(-time.Hour))) }, VerdictUnsure, "the clocks differ"},
		{"a beat of tomorrow", func(t *testing.T, m *Mailbox) { live(t, m, there, beating(now.Add(24*time.Hour))) }, VerdictUnsure, "the clocks differ"},
		{"no beats", func(t *testing.T, m *Mailbox) {
			l := beating(now)
			l.Interval = 0
			live(t, m, there, l)
		}, VerdictUnsure, "none regularly"},
		{"what cannot be read", func(t *testing.T, m *Mailbox) {
			live(t, m, there, &Live{})
			put(t, m.liveFile(there), []byte("{\"claim\":"))
		}, VerdictUnsure, "cannot be read"},
		{"a newer format", func(t *testing.T, m *Mailbox) {
			l := beating(now)
			l.Format = liveFormat + 1
			live(t, m, there, l)
		}, Mismatch, "newer format"},
		{"another machine of this name", func(t *testing.T, m *Mailbox) {
			l := beating(now)
			l.BootID = "another"
			live(t, m, here, l)
		}, Mismatch, "another machine that calls itself"},
		{"this machine, before it was started anew", func(t *testing.T, m *Mailbox) {
			l := beating(now.Add(-time.Hour))
			l.BootID = "another"
			live(t, m, here, l)
		}, Crashed, "never said that it stopped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mailbox(t, newSpool(t, "bob"), "bob")
			c.given(t, m)
			wantVerdict(t, m, c.want, c.evidence)
		})
	}
}

func wantVerdict(t *testing.T, m *Mailbox, want Verdict, evidence string) {
	t.Helper()
	st, err := mailbox(t, m.s, m.name).Judge(true)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(st.Evidence, "; "); st.Verdict != want || !strings.Contains(all, evidence) {
		t.Errorf("%s: %s; want %s: …%s…", st.Verdict, all, want, evidence)
	}
}

// receive holds the name until the test's end.
func receive(t *testing.T, m *Mailbox) *Receiver {
	t.Helper()
	r, err := m.Receive(context.Background(), ReceiverOptions{Beat: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestPendingIsARunningPeerThatLeavesThingsQueued(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	mustSend(t, s, note(""), "waits")
	wantVerdict(t, m, NoRunner, "nobody")
	r := receive(t, m)
	wantVerdict(t, m, Running, "holds the lock")
	s.sys.Now = func() time.Time { return time.Now().Add(2 * time.Minute) }
	wantVerdict(t, m, Pending, "the oldest queued came at")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, m, Sleeping, "stopped")
}

// A probe makes no lock file, and is never taken for a holder.
func TestProbeLeavesNothing(t *testing.T) {
	m := mailbox(t, newSpool(t, "bob"), "bob")
	if held, err := m.Held(); err != nil || held {
		t.Errorf("held %t, %v", held, err)
	}
	if _, err := os.Lstat(m.s.peerLock("bob")); !os.IsNotExist(err) {
		t.Errorf("the probe made the lock file: %v", err)
	}
	r := receive(t, m)
	if held, err := m.Held(); err != nil || !held {
		t.Errorf("under a receiver: held %t, %v", held, err)
	}
	_, err := m.Receive(context.Background(), ReceiverOptions{})
	wantErr(t, err, ErrLocked)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if held, err := m.Held(); err != nil || held {
		t.Errorf("after it: held %t, %v", held, err)
	}
}

// A machine that receives under this host's name is not taken for this one.
func TestReceiveBesideAnotherMachineOfThisName(t *testing.T) {
	m := mailbox(t, newSpool(t, "bob"), "bob")
	l := beating(time.Now())
	l.BootID = "another"
	live(t, m, here, l)
	_, err := m.Receive(context.Background(), ReceiverOptions{})
	wantErr(t, err, ErrElsewhere)
	if held, err := m.Held(); err != nil || held {
		t.Errorf("the refused one holds the name: %t, %v", held, err)
	}
}

// Two hosts whose clocks are a day apart decide as two whose clocks agree:
// claims are numbers.
func TestClocksDecideNothing(t *testing.T) {
	for _, skew := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour} {
		dir := t.TempDir() + "/spool"
		a, err := OpenOrCreate(dir, machine(here))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := a.Create(context.Background(), "bob", ""); err != nil {
			t.Fatal(err)
		}
		mine := mailbox(t, a, "bob")
		mine.s.sys.Now = func() time.Time { return time.Now().Add(skew) }
		theirs := elsewhereOf(t, mine)

		first := receive(t, mine)
		_, err = theirs.Receive(context.Background(), ReceiverOptions{})
		wantErr(t, err, ErrElsewhere)
		wantErr(t, theirs.MayWork(context.Background(), false), ErrElsewhere)
		wantErr(t, theirs.ChangePeer(context.Background(), func(p *Peer) { p.Hold = true }), ErrElsewhere)
		if err := first.StillHome(); err != nil {
			t.Errorf("skew %v: %v", skew, err)
		}
		if err := first.Beat(); err != nil {
			t.Errorf("skew %v: %v", skew, err)
		}
		second, err := theirs.Receive(context.Background(), ReceiverOptions{Takeover: true, Beat: time.Minute})
		if err != nil {
			t.Fatalf("skew %v: takeover: %v", skew, err)
		}
		mine.forget()
		wantErr(t, first.StillHome(), ErrLocked)
		_ = first.Beat() // one that has not looked yet
		theirs.forget()
		if err := second.StillHome(); err != nil {
			t.Errorf("skew %v: the new home: %v", skew, err)
		}
		wantErr(t, mayWork(mine, false), ErrElsewhere)
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// elsewhereOf is m as another host sees it, which has a local/ of its own.
func elsewhereOf(t *testing.T, m *Mailbox) *Mailbox {
	t.Helper()
	s := &Spool{dir: t.TempDir() + "/spool", sys: machine(there), host: there}
	s.setModes()
	if err := os.Mkdir(s.dir, privateDir); err != nil {
		t.Fatal(err)
	}
	if err := s.makeLocal(); err != nil {
		t.Fatal(err)
	}
	return &Mailbox{s: s, name: m.name, dir: m.dir}
}
