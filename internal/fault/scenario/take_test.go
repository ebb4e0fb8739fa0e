package scenario_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"xfer/internal/fault"
	"xfer/spool"
)

// A taking is a call of xfer-inbox that moves the handoff theID of bob's.
type taking struct {
	*world
	trial    fault.Trial
	from, to spool.Place
	handsOut bool
	dir      string // of --dir
}

var takes = []story{
	{"take a task, the first of all", func(w *world) fault.Trial {
		w.create("bob").deliver(spool.Task)
		return w.taking(spool.New, spool.Work, "take")
	}, false},
	{"take a notification", func(w *world) fault.Trial {
		w.create("bob").deliver(spool.Notification).claim("bob")
		return w.taking(spool.New, spool.Finished, "take")
	}, true},
	{"take a conclusion", func(w *world) fault.Trial {
		w.create("alice", "bob").deliver(spool.Task).concluded().claim("alice")
		return w.takingConclusion()
	}, false},
	{"take what a receiver had, by its id", func(w *world) fault.Trial {
		w.create("bob").deliver(spool.Task).claim("bob")
		w.must(os.Rename(filepath.Join(w.place("bob", spool.New), string(theID)), filepath.Join(w.place("bob", spool.Cur), string(theID))))
		return w.taking(spool.Cur, spool.Work, "take", string(theID))
	}, false},
	{"take a task that was released", func(w *world) fault.Trial {
		w.create("bob").deliver(spool.Task).taken().released()
		return w.taking(spool.Work, spool.Work, "take")
	}, false},
	{"take into a directory", func(w *world) fault.Trial {
		w.create("bob").deliver(spool.Notification).claim("bob")
		w.must(os.Mkdir(filepath.Join(w.dir, "out"), 0o700))
		return w.taking(spool.New, spool.Finished, "take", "--dir", "out")
	}, false},
	{"seen", func(w *world) fault.Trial {
		w.create("bob").deliver(spool.Notification).claim("bob")
		return w.taking(spool.New, spool.Finished, "seen", string(theID))
	}, false},
}

func (w *world) taking(from, to spool.Place, verb string, args ...string) fault.Trial {
	k := &taking{world: w, from: from, to: to, handsOut: verb == "take"}
	if len(args) > 1 {
		k.dir = filepath.Join(w.dir, args[1])
	}
	k.trial = w.trial(w.inbox, "", append([]string{"--as", "bob", verb}, args...)...)
	k.trial.Check = k.check
	return k.trial
}

func (k *taking) check(r fault.Result) error {
	return errors.Join(ended(r), k.sound(r), k.told(r), k.again())
}

// moved tells whether the handoff is where it goes, and taken from where it was.
func (k *taking) moved() bool {
	if k.from == k.to {
		_, err := os.Lstat(k.at("local", "released", string(theID)))
		return err != nil
	}
	return k.has("bob", k.to, theID)
}

func (k *taking) told(r fault.Result) error {
	place := k.from
	if k.moved() {
		place = k.to
	}
	if err := k.wantBody("bob", place, theID, theBody); err != nil {
		return err // lost
	}
	whole, err := k.whole(r)
	switch {
	case err != nil:
		return err
	case k.moved() && !whole:
		return fmt.Errorf("moved to %s/, and not handed out whole", k.to)
	case r.Status == 0 && !k.moved():
		return errors.New("status 0, and not moved")
	case r.Status == 0 && k.from != k.to && unsynced(r, k.to):
		return errors.New("status 0, and the move is not durable")
	}
	return nil
}

// whole tells whether the body was handed out, all of it.
func (k *taking) whole(r fault.Result) (bool, error) {
	if !k.handsOut {
		return true, nil
	}
	if k.dir == "" {
		return string(r.Stdout) == theBody, nil
	}
	there := names(k.dir)
	if r.Fault != fault.Kill && len(there) > 1 {
		return false, fmt.Errorf("left in the directory: %q", there)
	}
	b, err := os.ReadFile(filepath.Join(k.dir, string(theID)))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if string(b) != theBody {
		return false, fmt.Errorf("a file with the body %q", b)
	}
	return true, err
}

// again finds the handoff or nothing, by what was moved.
func (k *taking) again() error {
	moved := k.moved()
	a, err := run(k.trial)
	if err != nil {
		return err
	}
	byID := strings.Contains(strings.Join(k.trial.Argv, " "), string(theID))
	switch {
	case !k.handsOut || !moved:
		if a.status != 0 {
			return fmt.Errorf("again: status %d, want 0; stderr %q", a.status, a.stderr)
		}
		if k.handsOut && k.dir == "" && a.stdout != theBody {
			return fmt.Errorf("again: handed out %q", a.stdout)
		}
	case byID && a.status != 73, !byID && a.status != 1, a.stdout != "":
		return fmt.Errorf("again, after it was taken: status %d, stdout %q, stderr %q", a.status, a.stdout, a.stderr)
	}
	if !k.moved() {
		return errors.New("again: not moved")
	}
	if k.from != k.to && k.has("bob", k.from, theID) {
		return errors.New("again: it still stands where it was, too")
	}
	if err := k.wantBody("bob", k.to, theID, theBody); err != nil {
		return err
	}
	return k.sound(fault.Result{Attempt: fault.Attempt{Fault: fault.Kill}})
}

// takingConclusion lets alice take the conclusion of theID.
func (w *world) takingConclusion() fault.Trial {
	id := theID.Conclusion()
	trial := w.trial(w.inbox, "", "--as", "alice", "take")
	trial.Check = func(r fault.Result) error {
		moved := w.has("alice", spool.Finished, id)
		place := spool.New
		if moved {
			place = spool.Finished
		}
		err := errors.Join(ended(r), w.sound(r), w.wantBody("alice", place, id, theEnding))
		switch {
		case err != nil:
			return err
		case moved && string(r.Stdout) != theEnding:
			return fmt.Errorf("moved, and handed out %q", r.Stdout)
		case r.Status == 0 && !moved:
			return errors.New("status 0, and not moved")
		case moved:
			_, err = again(trial, 1)
			return err
		}
		a, err := again(trial, 0)
		if err == nil && a.stdout != theEnding {
			err = fmt.Errorf("again: handed out %q", a.stdout)
		}
		return err
	}
	return trial
}
