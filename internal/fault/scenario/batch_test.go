package scenario_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"xfer/internal/fault"
	"xfer/spool"
)

var batches = []story{
	{"send a batch", func(w *world) fault.Trial {
		w.create("alice", "bob", "carol")
		return w.batching()
	}, false},
}

// The lines of a batch, in the order of their outcomes.
var batchLines = []struct {
	to         spool.Name
	kind, more string
}{
	{"bob", "notification", `"key":"the first"`},
	{"carol", "notification", `"id":"` + string(theID) + `"`},
	{"bob", "task", `"key":"the last"`},
}

// batching sends to two peers, each line under a key or an id: what was told as
// sent is, and the batch again doubles nothing.
func (w *world) batching() fault.Trial {
	var stdin strings.Builder
	for i, l := range batchLines {
		_, err := fmt.Fprintf(&stdin, `{"to":%q,"kind":%q,"body":%q,%s}`+"\n", l.to, l.kind, batchBody(i), l.more)
		w.must(err)
	}
	trial := w.trial(w.send, stdin.String(), "--as", "alice", "--batch")
	trial.Check = func(r fault.Result) error {
		err := errors.Join(w.sound(r), w.batchTold(r.Stdout))
		if r.Status != 75 || !lost(r, "flock(") { // what could not be unlocked is locked for the next line
			err = errors.Join(err, ended(r))
		}
		if r.Status == 0 && (failedSync(r) || strings.Count(string(r.Stdout), "\n") != len(batchLines)) {
			err = errors.Join(err, errors.New("status 0, and something was not durable, or not told"))
		}
		return errors.Join(err, w.batchAgain(trial))
	}
	return trial
}

func batchBody(i int) string { return fmt.Sprintf("body %d", i) }

// failedSync tells whether the fault hit an fsync.
func failedSync(r fault.Result) bool { return lost(r, "fsync(") }

// batchTold holds the outcomes that were printed against what stands in new/.
func (w *world) batchTold(stdout []byte) error {
	for line := range strings.Lines(string(stdout)) {
		var o struct {
			Line    int
			ID      spool.ID
			To      spool.Name
			Outcome spool.Outcome
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			return fmt.Errorf("printed %q: %w", line, err)
		}
		there := o.ID != "" && w.has(o.To, spool.New, o.ID)
		switch {
		case o.Outcome == spool.Queued && !there:
			return fmt.Errorf("printed %q, and it is not in new/", line)
		case o.Outcome == spool.Queued:
			if err := w.wantBody(o.To, spool.New, o.ID, batchBody(o.Line-1)); err != nil {
				return err
			}
		case o.Outcome == spool.NotDelivered && o.ID != "":
			return fmt.Errorf("printed %q, with an id", line)
		}
	}
	return nil
}

// batchAgain sends it once more, with nothing in the way.
func (w *world) batchAgain(trial fault.Trial) error {
	a, err := again(trial, 0)
	if err != nil {
		return err
	}
	if n := strings.Count(a.stdout, `"outcome":"queued"`); n != len(batchLines) {
		return fmt.Errorf("again: printed %q", a.stdout)
	}
	if err := w.batchTold([]byte(a.stdout)); err != nil {
		return err
	}
	for n, want := range map[spool.Name]int{"bob": 2, "carol": 1} {
		if there := names(w.place(n, spool.New)); len(there) != want {
			return fmt.Errorf("again: new/ of %s has %q", n, there)
		}
	}
	return nil
}
