package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xfer/internal/fault"
	"xfer/spool"
)

// A reaped is what gc is tried on, and what must hold after each try.
type reaped struct {
	name  string
	setup func(*world)
	// holds is asked after the run with the fault, and left after one more
	// without.
	holds, left func(*world) error
}

var reapings = []reaped{
	{"let a finished handoff go", func(w *world) {
		w.create("bob").deliver(spool.Notification).finished()
	}, (*world).finishedOrRemembered, (*world).onlyRemembered},
	{"let the link of one go", func(w *world) {
		w.create("bob").deliver(spool.Notification).finished().reap()
	}, (*world).finishedOrRemembered, func(w *world) error {
		return errors.Join(w.onlyRemembered(), w.absent(w.link()))
	}},
	{"undo an orphan", func(w *world) {
		w.create("bob").deliver(spool.Notification).claim("bob")
		w.orphan = true
		w.must(os.Rename(w.inNew(), w.orphaned()))
	}, func(w *world) error {
		// The link goes first: else a replay would find it, and deliver nothing.
		if w.absent(w.orphaned()) == nil {
			return w.absent(w.link())
		}
		return nil
	}, func(w *world) error {
		return errors.Join(w.absent(w.orphaned()), w.absent(w.link()))
	}},
	{"drop a ghost", func(w *world) {
		w.create("bob").deliver(spool.Notification)
		b, err := os.ReadFile(w.inNew())
		w.must(err)
		w.finished()
		w.must(os.WriteFile(w.inNew(), b, 0o600))
	}, (*world).finishedOrRemembered, (*world).onlyRemembered},
	{"drop a ghost of what was let go", func(w *world) {
		w.create("bob").deliver(spool.Notification)
		b, err := os.ReadFile(w.inNew())
		w.must(err)
		w.finished().reap()
		w.must(os.WriteFile(w.inNew(), b, 0o600))
	}, (*world).finishedOrRemembered, (*world).onlyRemembered},
	{"set an incomplete file aside", func(w *world) {
		w.create("bob").deliver(spool.Notification).claim("bob")
		w.must(os.Truncate(w.inNew(), 200))
	}, func(w *world) error { return w.oneFile() }, func(w *world) error {
		return errors.Join(w.oneFile(), w.absent(w.inNew()))
	}},
	{"move a concluded task", func(w *world) {
		w.create("alice", "bob").deliver(spool.Task).taken().concluded()
		w.must(os.Rename(filepath.Join(w.place("bob", spool.Finished), string(theID)), filepath.Join(w.place("bob", spool.Work), string(theID))))
	}, func(w *world) error {
		if w.has("bob", spool.Work, theID) {
			return nil
		}
		return w.finishedOrRemembered()
	}, func(w *world) error {
		return errors.Join(w.absent(filepath.Join(w.place("bob", spool.Work), string(theID))), w.finishedOrRemembered())
	}},
}

func (w *world) inNew() string    { return filepath.Join(w.place("bob", spool.New), string(theID)) }
func (w *world) orphaned() string { return w.at("peers", "bob", "tmp", string(theID)+".0") }
func (w *world) link() string {
	return w.at("local", "ids", string(theID)[len(theID)-2:], string(theID))
}

func (w *world) absent(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is there, %v", path, err)
	}
	return nil
}

// finished lets bob take theID, which ends a notification.
func (w *world) finished() *world {
	w.t.Helper()
	c, err := w.claim("bob").ClaimID(context.Background(), theID)
	w.must(err)
	defer c.Release()
	w.must(c.Taken(""))
	return w
}

// reap lets go what is finished, as gc does.
func (w *world) reap() *world {
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
	if n != 1 {
		w.t.Fatalf("%d let go", n)
	}
	return w
}

// finishedOrRemembered wants the handoff to stand in done/, or to be remembered
// as handled.
func (w *world) finishedOrRemembered() error {
	if w.has("bob", spool.Finished, theID) {
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
	r, err := m.Outcome(theID)
	if err == nil && r.Outcome != spool.Delivered {
		err = fmt.Errorf("neither in done/ nor remembered: %s", r.Outcome)
	}
	return err
}

func (w *world) onlyRemembered() error {
	return errors.Join(w.finishedOrRemembered(), w.absent(w.inNew()),
		w.absent(filepath.Join(w.place("bob", spool.Finished), string(theID))))
}

// oneFile wants the file to be in new/ or set aside.
func (w *world) oneFile() error {
	n := len(names(w.place("bob", spool.New)))
	for _, name := range names(w.place("bob", spool.Bad)) {
		if !strings.HasSuffix(name, ".reason") {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("%d files", n)
	}
	return nil
}

// reaping runs gc on it, for which all is old.
func (w *world) reaping(gc string, r reaped) fault.Trial {
	trial := w.trial(gc, "", "--tmp-age", "0", "--keep-done", "0")
	trial.Check = func(res fault.Result) error {
		if err := errors.Join(ended(res), r.holds(w)); err != nil {
			return err
		}
		// What a run before left is settled by the next, and the next but one.
		for range 2 {
			a, err := again(trial, 0)
			if err != nil {
				return err
			}
			if a.stdout+a.stderr != "" {
				return fmt.Errorf("again: said %q", a.stdout+a.stderr)
			}
		}
		if err := r.left(w); err != nil {
			return fmt.Errorf("again: %w", err)
		}
		w.orphan = false
		return w.sound(fault.Result{})
	}
	return trial
}

// TestReaping: gc is killed, and fails, anywhere; what was finished is
// remembered before it goes, and the next one completes what was begun.
func TestReaping(t *testing.T) {
	gc := fault.Build(t, "xfer/cmd/xfer-gc")
	inMemory(t)
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
