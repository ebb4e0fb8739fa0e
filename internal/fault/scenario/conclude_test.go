package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"xfer/internal/fault"
	"xfer/spool"
)

const (
	theEnding   = "# Reviewed\n\nIt is fine."
	otherEnding = "# Reviewed\n\nIt is not."
)

// A concluding is a call of xfer-inbox conclude of the task theID.
type concluding struct {
	*world
	trial fault.Trial
	next  string // the body of the call that follows
}

var concludes = []story{
	{"conclude a task that was taken", func(w *world) fault.Trial {
		w.create("alice", "bob").deliver(spool.Task).taken()
		return w.concluding(theEnding)
	}, true},
	{"conclude a task that was taken, then with other bytes", func(w *world) fault.Trial {
		w.create("alice", "bob").deliver(spool.Task).taken()
		return w.concluding(otherEnding)
	}, false},
	{"conclude a task in new/", func(w *world) fault.Trial {
		w.create("alice", "bob").deliver(spool.Task).claim("bob")
		return w.concluding(theEnding)
	}, false},
	{"conclude a task whose sender has no mailbox", func(w *world) fault.Trial {
		w.create("bob").deliver(spool.Task).taken()
		return w.concluding(theEnding)
	}, false},
	{"conclude what is concluded", func(w *world) fault.Trial {
		w.create("alice", "bob").deliver(spool.Task).taken().concluded()
		return w.concluding(otherEnding)
	}, false},
	{"release", func(w *world) fault.Trial {
		w.create("alice", "bob").deliver(spool.Task).taken()
		return w.releasing()
	}, false},
}

var stories = slices.Concat(sends, batches, takes, concludes, awaits)

// concluded ends theID.
func (w *world) concluded() *world {
	w.t.Helper()
	m := w.claim("bob")
	c, err := m.Conclude(theID, spool.Done, spool.Draft{Type: "text/markdown; charset=utf-8"})
	w.must(err)
	_, err = c.Write([]byte(theEnding))
	w.must(err)
	_, _, err = c.Commit(context.Background())
	w.must(err)
	return w
}

// released offers theID again.
func (w *world) released() *world {
	w.t.Helper()
	_, err := w.claim("bob").Offer(context.Background(), theID)
	w.must(err)
	return w
}

func (w *world) concluding(next string) fault.Trial {
	c := &concluding{world: w, next: next}
	c.trial = w.trial(w.inbox, theEnding, "--as", "bob", "conclude", string(theID), "done")
	before := c.sent()
	c.trial.Check = func(r fault.Result) error {
		return errors.Join(ended(r), c.sound(r), c.told(r, before), c.again())
	}
	return c.trial
}

// sent tells whether the conclusion is with alice.
func (c *concluding) sent() bool { return c.has("alice", spool.New, theID.Conclusion()) }

// ended tells whether the task is in done/.
func (c *concluding) done() bool { return c.has("bob", spool.Finished, theID) }

func (c *concluding) told(r fault.Result, before bool) error {
	id := string(theID.Conclusion())
	printed := strings.TrimSuffix(string(r.Stdout), "\n")
	if c.sent() {
		if err := c.wantBody("alice", spool.New, theID.Conclusion(), theEnding); err != nil {
			return err
		}
	}
	said := string(r.Stderr)
	switch {
	case c.done() && !c.sent():
		return errors.New("the task is in done/, and was not concluded")
	case printed != "" && !strings.HasPrefix(printed, id):
		return fmt.Errorf("printed %q", printed)
	case printed != "" && !c.sent():
		return errors.New("printed, and not sent")
	case r.Status == 0 && (printed == "" || !c.done()):
		return fmt.Errorf("status 0, printed %q, in done/: %t", printed, c.done())
	case r.Status == 0 && !before && unsynced(r, spool.New):
		return errors.New("status 0, and it is not durable")
	case r.Fault == fault.Kill || before:
		return nil
	case strings.Contains(said, "nothing was sent") && c.sent():
		return errors.New("said that nothing was sent, and it was")
	case r.Status == 79 && !c.sent():
		return errors.New("status 79, and nothing is there")
	case r.Status != 0 && c.sent() && r.Status != 79 && (r.Status != 74 || !onStdout(r)):
		return fmt.Errorf("status %d, and the conclusion was sent", r.Status)
	case c.sent() && !strings.Contains(said+printed, id) && !mute(r):
		return errors.New("it was sent, and its id is told nowhere")
	}
	return nil
}

// again concludes once more. Where the first was written it stands.
func (c *concluding) again() error {
	stands := c.sent()
	next := c.trial
	next.Stdin = []byte(c.next)
	a, err := run(next)
	if err != nil {
		return err
	}
	switch {
	case a.status != 0 && (a.status != 73 || c.next == theEnding):
		return fmt.Errorf("again: status %d; stderr %q", a.status, a.stderr)
	case stands && c.next != theEnding && a.status != 73:
		return fmt.Errorf("again with other bytes: status %d, want 73", a.status)
	case !c.done():
		return errors.New("again: the task is not in done/")
	}
	want := c.next
	if a.status == 73 {
		want = theEnding
	}
	if err := c.wantBody("alice", spool.New, theID.Conclusion(), want); err != nil {
		return err
	}
	if there := names(c.place("alice", spool.New)); len(there) != 1 {
		return fmt.Errorf("again: new/ of alice has %q", there)
	}
	return c.sound(fault.Result{Attempt: fault.Attempt{Fault: fault.Kill}})
}

// releasing offers theID again; the task stays in work/ whatever happens.
func (w *world) releasing() fault.Trial {
	trial := w.trial(w.inbox, "", "--as", "bob", "release", string(theID))
	trial.Check = func(r fault.Result) error {
		_, missing := os.Lstat(w.at("local", "released", string(theID)))
		err := errors.Join(ended(r), w.sound(r), w.wantBody("bob", spool.Work, theID, theBody))
		if r.Status == 0 {
			err = errors.Join(err, missing)
		}
		if err != nil {
			return err
		}
		if _, err := again(trial, 0); err != nil {
			return err
		}
		a, err := again(w.trial(w.inbox, "", "--as", "bob", "take"), 0)
		if err == nil && a.stdout != theBody {
			err = fmt.Errorf("again: took %q", a.stdout)
		}
		return err
	}
	return trial
}
