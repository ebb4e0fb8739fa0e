package scenario_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"xfer/internal/fault"
	"xfer/spool"
)

var awaits = []story{
	{"await a conclusion, the first of all", func(w *world) fault.Trial {
		w.create("alice", "bob").deliver(spool.Task).concluded()
		return w.awaiting(w.trial(w.inbox, "", "--as", "alice", "await", string(theID)), "")
	}, true},
	{"await a conclusion a second time", func(w *world) fault.Trial {
		w.create("alice", "bob").deliver(spool.Task).concluded()
		trial := w.trial(w.inbox, "", "--as", "alice", "await", string(theID))
		_, err := again(trial, 0)
		w.must(err)
		return w.awaiting(trial, "")
	}, false},
	{"await into a directory", func(w *world) fault.Trial {
		w.create("alice", "bob").deliver(spool.Task).concluded()
		return w.awaiting(w.trial(w.inbox, "", "--as", "alice", "await", "--dir", ".", string(theID)), filepath.Join(w.dir, string(theID.Conclusion())))
	}, false},
	{"send a task again, and await its conclusion", func(w *world) fault.Trial {
		w.create("alice", "bob").deliver(spool.Task).concluded()
		return w.awaiting(w.trial(w.send, theBody, "--as", "alice", "-k", "task", "--id", string(theID), "--await", "1h", "bob"), "")
	}, false},
	{"send a task, and await no longer than it takes", func(w *world) fault.Trial {
		w.create("bob")
		return w.sendingAwaited()
	}, false},
	{"send under a key", func(w *world) fault.Trial {
		w.create("alice", "bob")
		return w.keying()
	}, true},
	{"send under a key again", func(w *world) fault.Trial {
		w.create("alice", "bob")
		trial := w.keying()
		_, err := again(trial, 0)
		w.must(err)
		return trial
	}, false},
}

// awaiting hands the conclusion of theID out, to standard output or to a file:
// whole, before it is moved; and once more when it is asked for again.
func (w *world) awaiting(trial fault.Trial, file string) fault.Trial {
	trial.Check = func(r fault.Result) error {
		done := w.has("alice", spool.Finished, theID.Conclusion())
		got, err := string(r.Stdout), error(nil)
		if file != "" {
			data, rerr := os.ReadFile(file)
			got, err = string(data), rerr
		}
		whole := err == nil && got == theEnding
		err = errors.Join(ended(r), w.sound(r))
		if !done || r.Fault != fault.Kill && !lost(r, "unlink") { // where names are made by links, it may show in two places
			err = errors.Join(err, w.once(spool.New, spool.Finished))
		}
		switch {
		case r.Status == 0 && r.Fault != fault.Kill && (!whole || !done):
			return errors.Join(err, fmt.Errorf("status 0, in done/: %t, handed out %q", done, got))
		case err != nil:
			return err
		}
		a, err := again(trial, 0)
		if err == nil && file == "" && a.stdout != theEnding {
			return fmt.Errorf("again: handed out %q", a.stdout)
		}
		if err == nil {
			err = w.once(spool.Finished)
		}
		if left := names(w.at("local", "await")); err == nil && len(left) > 0 && r.Fault != fault.Kill && !lost(r, "unlink") {
			err = fmt.Errorf("again: the waiters left %q", left)
		}
		return err
	}
	return trial
}

// once wants alice to have the conclusion, in one of these places and no
// other.
func (w *world) once(places ...spool.Place) error {
	n := 0
	for _, p := range spool.Places {
		if !w.has("alice", p, theID.Conclusion()) {
			continue
		}
		n++
		if err := w.wantBody("alice", p, theID.Conclusion(), theEnding); err != nil {
			return err
		}
	}
	for _, p := range places {
		if n == 1 && w.has("alice", p, theID.Conclusion()) {
			return nil
		}
	}
	return fmt.Errorf("the conclusion stands in %d places, not in one of %v", n, places)
}

// sendingAwaited is a send whose time is up as soon as it is sent: status 1,
// and the handoff stays sent.
func (w *world) sendingAwaited() fault.Trial {
	trial := w.trial(w.send, theBody, "--as", "alice", "-k", "task", "--id", string(theID), "--await", "0", "bob")
	trial.Check = func(r fault.Result) error {
		sent := w.has("bob", spool.New, theID)
		open := r.Status == 1 && r.Fault != fault.Kill
		if open {
			r.Status = 0 // what it says when all went well
		}
		err := errors.Join(ended(r), w.sound(r))
		switch {
		case err != nil:
			return err
		case open && !sent:
			return errors.New("says that it is open, and it was not sent")
		case sent:
			err = w.wantBody("bob", spool.New, theID, theBody)
		}
		if err != nil {
			return err
		}
		if _, err := again(trial, 1); err != nil {
			return err
		}
		return w.wantBody("bob", spool.New, theID, theBody)
	}
	return trial
}

// keying is a send under a key: however often and wherever it is cut short, one
// handoff comes of it.
func (w *world) keying() fault.Trial {
	trial := w.trial(w.send, theBody, "--as", "alice", "-k", "notification", "--key", "run 7", "bob")
	trial.Check = func(r fault.Result) error {
		before := names(w.place("bob", spool.New))
		err := errors.Join(ended(r), w.sound(r))
		if len(before) > 1 || r.Status == 0 && r.Fault != fault.Kill && len(before) != 1 {
			err = errors.Join(err, fmt.Errorf("status %d, and new/ has %q", r.Status, before))
		}
		if err != nil {
			return err
		}
		a, err := again(trial, 0)
		if err != nil {
			return err
		}
		after := names(w.place("bob", spool.New))
		if len(after) != 1 || a.stdout != after[0]+"\n" || len(before) == 1 && before[0] != after[0] {
			return fmt.Errorf("again: printed %q; new/ had %q, and has %q", a.stdout, before, after)
		}
		other := trial
		other.Stdin = []byte("another body")
		if _, err := again(other, 73); err != nil {
			return err
		}
		return w.wantBody("bob", spool.New, spool.ID(after[0]), theBody)
	}
	return trial
}
