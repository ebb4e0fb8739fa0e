package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"xfer/internal/fault"
	"xfer/spool"
)

// What gc meets: each is bob's.
const (
	finishedID = spool.ID("01kb9w6t3v8f5s7q2m4x0c1d9e") // in done/
	orphanID   = spool.ID("01kb9w6t3v8f5s7q2m4x0c1d9f") // in tmp/, and registered
	ghostID    = spool.ID("01kb9w6t3v8f5s7q2m4x0c1d9g") // in done/, and in new/ again
)

// A reaped is a world for gc, and what must hold in it after a run with a
// fault, and after one more without.
type reaped struct {
	name  string
	setup func(*world)
	holds func(*world) error
	left  func(*world) error
}

var reapings = []reaped{
	{"reap what is finished, an orphan and a ghost", (*world).toReap, (*world).nothingLost, (*world).reapedAll},
	{"reap the link and a ghost of what was let go, and merge segments", func(w *world) {
		w.create("bob").put(finishedID, spool.Notification).finished(finishedID).reap()
		w.put(ghostID, spool.Notification)
		b := w.file("bob", spool.New, ghostID)
		w.finished(ghostID).reap()
		w.must(os.WriteFile(filepath.Join(w.place("bob", spool.New), string(ghostID)), b, 0o600))
	}, func(w *world) error {
		return errors.Join(w.handled(finishedID), w.handled(ghostID))
	}, func(w *world) error {
		return errors.Join(w.handled(finishedID), w.handled(ghostID), w.empty("bob", spool.New), w.unlinked(finishedID))
	}},
}

func (w *world) toReap() {
	w.create("bob")
	w.put(finishedID, spool.Notification).finished(finishedID)
	w.put(ghostID, spool.Notification)
	b := w.file("bob", spool.New, ghostID)
	w.finished(ghostID)
	w.must(os.WriteFile(filepath.Join(w.place("bob", spool.New), string(ghostID)), b, 0o600))
	w.put(orphanID, spool.Notification)
	w.orphan = true
	w.must(os.Rename(filepath.Join(w.place("bob", spool.New), string(orphanID)), w.orphaned()))
}

func (w *world) nothingLost() error {
	err := errors.Join(w.handled(finishedID), w.handled(ghostID))
	// The link goes first: else a replay would find it, and deliver nothing.
	if absent(w.orphaned()) == nil {
		err = errors.Join(err, w.unlinked(orphanID))
	}
	return err
}

func (w *world) reapedAll() error {
	return errors.Join(w.handled(finishedID), w.handled(ghostID), absent(w.orphaned()), w.unlinked(orphanID), w.empty("bob", spool.New))
}

// put delivers a handoff of alice's to bob.
func (w *world) put(id spool.ID, k spool.Kind) *world {
	w.t.Helper()
	s, err := spool.Open(w.spool, w.sys)
	w.must(err)
	d, err := s.NewDelivery(spool.Draft{ID: id, From: "alice", To: "bob", Kind: k, Subject: "s", Type: "text/plain"})
	w.must(err)
	_, err = d.Write([]byte(theBody))
	w.must(err)
	_, err = d.Commit(context.Background())
	w.must(err)
	return w
}

func (w *world) file(n spool.Name, p spool.Place, id spool.ID) []byte {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.place(n, p), string(id)))
	w.must(err)
	return b
}

func (w *world) orphaned() string { return w.at("peers", "bob", "tmp", string(orphanID)+".0") }

func absent(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is there, %v", path, err)
	}
	return nil
}

func (w *world) unlinked(id spool.ID) error {
	return absent(w.linkOf(id))
}

func (w *world) linkOf(id spool.ID) string {
	return w.at("local", "ids", string(id)[len(id)-2:], string(id))
}

func (w *world) empty(n spool.Name, p spool.Place) error {
	if all := names(w.place(n, p)); len(all) > 0 {
		return fmt.Errorf("%s/ has %q", p, all)
	}
	return nil
}

// finished lets bob take id, which ends a notification.
func (w *world) finished(id spool.ID) *world {
	w.t.Helper()
	c, err := w.claim("bob").ClaimID(context.Background(), id)
	w.must(err)
	defer c.Release()
	w.must(c.Taken(""))
	return w
}

// reap lets go what is finished, as gc does.
func (w *world) reap() {
	w.t.Helper()
	s, err := spool.Open(w.spool, w.sys)
	w.must(err)
	r, err := s.Reap(context.Background())
	w.must(err)
	defer r.Close()
	var all []spool.Leftover
	w.must(r.Survey(context.Background(), w.sys.Now(), func(l spool.Leftover) error {
		if l.Kind == spool.LeftFinished {
			all = append(all, l)
		}
		return nil
	}))
	n, _, err := r.LetGo(context.Background(), "bob", all)
	w.must(err)
	if n == 0 || n != len(all) {
		w.t.Fatalf("%d of %d let go", n, len(all))
	}
}

// handled wants id to stand in done/, or to be remembered as handled.
func (w *world) handled(id spool.ID) error {
	if w.has("bob", spool.Finished, id) {
		return nil
	}
	s, err := spool.Open(w.spool, w.sys)
	if err != nil {
		return err
	}
	m, err := s.Mailbox("bob")
	if err != nil {
		return err
	}
	r, err := m.Outcome(id)
	if err == nil && r.Outcome != spool.Delivered {
		err = fmt.Errorf("%s is neither in done/ nor remembered: %s", id, r.Outcome)
	}
	return err
}

// reaping runs gc on it, for which all but what was set aside is old.
func (w *world) reaping(gc string, r reaped) fault.Trial {
	trial := w.trial(gc, "", "--tmp-age", "0", "--keep-done", "0")
	trial.Check = func(res fault.Result) error {
		if err := errors.Join(ended(res), r.holds(w)); err != nil {
			return err
		}
		a, err := again(trial, 0)
		if err != nil {
			return err
		}
		if a.stdout+a.stderr != "" {
			return fmt.Errorf("again: said %q", a.stdout+a.stderr)
		}
		if err := r.left(w); err != nil {
			return fmt.Errorf("again: %w", err)
		}
		return w.sound(fault.Result{Attempt: fault.Attempt{Fault: fault.Kill}})
	}
	return trial
}

// TestReaping: gc is killed, and fails, anywhere; what was finished is
// remembered before it goes, and the next one completes what was begun.
func TestReaping(t *testing.T) {
	gc := fault.Build(t, "xfer/cmd/xfer-gc")
	for _, r := range reapings {
		t.Run(r.name, func(t *testing.T) {
			points := fault.Each(t, func(t *testing.T) fault.Trial {
				w := newWorld(t, "", "")
				r.setup(w)
				return w.reaping(gc, r)
			})
			tell(fmt.Sprintf("%4d points: gc: %s", points, r.name))
		})
	}
}
