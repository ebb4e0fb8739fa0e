package reap

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xfer/spool"
)

const (
	marker = "quince-and-marmalade" // in every subject, body and label
	aTask  = spool.ID("01kb9w6t3v8f5s7q2m4x0c1d9e")
	aNote  = spool.ID("01kb9w6t3v8f5s7q2m4x0c1d9f")
)

// A world is a spool whose clock a test moves, in which alice has sent bob a
// task that he concluded, and a notification that is queued.
type world struct {
	t     *testing.T
	dir   string
	later time.Duration
	sys   *spool.System
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "spool")}
	w.sys = spool.NewSystem()
	w.sys.Now = func() time.Time { return time.Now().Add(w.later) }
	w.sys.Host = func() (spool.Host, error) { return "testhost-3fa09c11", nil }
	w.sys.Env = func(string) string { return "" }
	w.sys.Sync = func(*os.File) error { return nil }
	s, err := spool.OpenOrCreate(w.dir, w.sys)
	w.must(err)
	for _, n := range []spool.Name{"alice", "bob"} {
		_, _, err := s.Create(context.Background(), n, "")
		w.must(err)
		w.must(w.mailbox(n).MayWork(context.Background(), false))
	}
	w.send(spool.Draft{ID: aTask, From: "alice", To: "bob", Kind: spool.Task})
	w.send(spool.Draft{ID: aNote, From: "alice", To: "bob", Kind: spool.Notification})
	c, err := w.mailbox("bob").Conclude(aTask, spool.Done, spool.Draft{Type: "text/plain", Subject: marker})
	w.must(err)
	_, err = io.WriteString(c, marker)
	w.must(err)
	_, _, err = c.Commit(context.Background())
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) open() *spool.Spool {
	w.t.Helper()
	s, err := spool.Open(w.dir, w.sys)
	w.must(err)
	return s
}

func (w *world) mailbox(n spool.Name) *spool.Mailbox {
	w.t.Helper()
	m, err := w.open().Mailbox(n)
	w.must(err)
	return m
}

func (w *world) send(d spool.Draft) spool.ID {
	w.t.Helper()
	d.Subject, d.Type, d.Labels = marker, "text/plain", []spool.Label{marker}
	c, err := w.open().NewDelivery(d)
	w.must(err)
	_, err = io.WriteString(c, marker)
	w.must(err)
	r, err := c.Commit(context.Background())
	w.must(err)
	return r.ID
}

// take has n take all that is due.
func (w *world) take(n spool.Name) {
	w.t.Helper()
	q, err := w.mailbox(n).Queue(spool.Filter{})
	w.must(err)
	for {
		c, err := q.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return
		}
		w.must(err)
		w.must(c.Taken("somebody"))
		c.Release()
	}
}

// gc sweeps, and is what it told.
func (w *world) gc(k Keep) []Done {
	w.t.Helper()
	s := w.open()
	r, err := s.Reap(context.Background())
	w.must(err)
	defer r.Close()
	var told []Done
	sweep := &Sweep{R: r, S: s, Keep: k, Now: w.sys.Now, Tell: func(d Done) { told = append(told, d) }}
	w.must(sweep.Run(context.Background()))
	return told
}

// doctor is what it has to say.
func (w *world) doctor(deep bool) []Finding {
	w.t.Helper()
	var all []Finding
	d := &Doctor{S: w.open(), Now: w.sys.Now, Home: filepath.Dir(w.dir), Deep: deep, Tell: func(f Finding) { all = append(all, f) }}
	w.must(d.Run(context.Background()))
	return all
}

func (w *world) repair() {
	w.t.Helper()
	_, err := (&Doctor{S: w.open(), Now: w.sys.Now}).Repair(context.Background())
	w.must(err)
}

// enter does what the programs do when a remedy is typed.
func (w *world) enter(remedy string) {
	w.t.Helper()
	ctx := context.Background()
	bob := w.mailbox("bob")
	release, id, _ := strings.Cut(remedy, " release ")
	switch {
	case remedy == "xfer-gc":
		w.gc(DefaultKeep())
	case remedy == "xfer-gc doctor --repair":
		w.repair()
	case remedy == "xfer-recv --as bob":
		w.receive(bob)
	case remedy == "xfer-inbox --as bob create":
		_, _, err := w.open().Create(ctx, "bob", "")
		w.must(err)
	case remedy == "xfer-inbox --as bob unhold":
		w.must(bob.ChangePeer(ctx, func(p *spool.Peer) { p.Hold = false }))
	case remedy == "xfer-inbox --as bob policy all":
		w.must(bob.MendPeer(ctx, func(p *spool.Peer) { p.Only = nil }))
	case release == "xfer-inbox --as bob" && id != "":
		_, err := bob.Offer(ctx, spool.ID(id))
		w.must(err)
	default:
		w.t.Fatalf("no program does %q", remedy)
	}
}

// receive announces what is due in m, until the test ends.
func (w *world) receive(m *spool.Mailbox) {
	w.t.Helper()
	r, err := m.Receive(context.Background(), spool.ReceiverOptions{})
	w.must(err)
	w.t.Cleanup(func() { _ = r.Close() })
	q, err := r.Arrivals(true)
	w.must(err)
	claims, err := r.Next(context.Background(), q, 0)
	w.must(err)
	w.must(r.Received(claims))
}

// Paths of the methods below are below the spool.
func (w *world) at(path string) string { return filepath.Join(w.dir, filepath.FromSlash(path)) }

func (w *world) write(path, data string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.at(path)), 0o700))
	w.must(os.WriteFile(w.at(path), []byte(data), 0o600))
}

func (w *world) read(path string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.at(path))
	w.must(err)
	return string(b)
}

func (w *world) rename(from, to string) { w.t.Helper(); w.must(os.Rename(w.at(from), w.at(to))) }
func (w *world) remove(path string)     { w.t.Helper(); w.must(os.Remove(w.at(path))) }
func (w *world) copy(from, to string)   { w.t.Helper(); w.write(to, w.read(from)) }
func (w *world) edit(path, old, now string) {
	w.t.Helper()
	b := w.read(path)
	if !strings.Contains(b, old) {
		w.t.Fatalf("%s holds no %q", path, old)
	}
	w.write(path, strings.ReplaceAll(b, old, now))
}
