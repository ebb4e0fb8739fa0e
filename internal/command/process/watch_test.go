package process_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"xfer/spool"
)

// What is passed over is told once, however often a receiver looks, and holds
// up nothing.
func TestPassedOverIsToldOnce(t *testing.T) {
	w := newWorld(t, "bob")
	w.must(syscall.Mkfifo(w.place(spool.New)+"/01kb9w6t3v8f5s7q2m4x0c1d9e", 0o600))
	w.must(syscall.Mkfifo(w.place(spool.Cur)+"/stray", 0o600))
	p := w.receiver("--poll", "20ms")
	// Between two lines there is a look at everything, or several.
	for range 5 {
		want(t, "announced", w.send(1), p.id())
		look(t, p)
	}
	p.signal(syscall.SIGTERM)
	p.wantEnd("terminated", "xfer-recv: new/01kb9w6t3v8f5s7q2m4x0c1d9e: not a regular file; left alone\n"+
		"xfer-recv: 1 name in the mailbox is not a handoff's and is left alone\n")
}

// look waits until p has run for another while: it has looked again.
func look(t *testing.T, p *process) {
	t.Helper()
	before := onProcessor(t, p.Process.Pid)
	eventually(t, "another look", func() bool { return onProcessor(t, p.Process.Pid) > before+time.Millisecond })
}

// watch prints what arrives from when it began, wherever it goes, once.
func TestWatchPrintsArrivals(t *testing.T) {
	w := newWorld(t, "bob")
	before := w.send(1)
	p := w.start("xfer-inbox", "watch", "--poll", "200ms")
	eventually(t, "a watch", func() bool { return watches(p.Process.Pid) })
	// It knows what was there when it began; what comes in that moment it may
	// or may not show.
	var sent []spool.ID
	for at := -1; at < 0; {
		sent = append(sent, w.send(1))
		select {
		case line := <-p.lines:
			id, _, _ := strings.Cut(line, "\t")
			if at = slices.Index(sent, spool.ID(id)); at < 0 {
				t.Fatalf("shown: %s; sent: %s, then %s", id, before, sent)
			}
			sent = sent[at+1:]
		case <-time.After(time.Second):
		}
	}
	recv := w.start("xfer-recv", "-q")
	for range 20 {
		sent = append(sent, w.send(1))
	}
	for _, id := range sent {
		want(t, "shown", p.id(), id)
	}
	recv.signal(syscall.SIGTERM)
	want(t, "receiver", recv.end(), "terminated")
	p.signal(syscall.SIGTERM)
	p.wantEnd("terminated", "")
	want(t, "lines more than arrivals", len(p.lines), 0)
}
