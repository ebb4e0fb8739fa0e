package scenario_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"xfer/internal/fault"
	"xfer/spool"
)

// receiving lets bob receive theID.
func (w *world) receiving(recv string) fault.Trial {
	trial := w.trial(recv, "", "--as", "bob", "--drain")
	trial.Check = func(r fault.Result) error {
		return errors.Join(ended(r), w.sound(r), w.announced(r), w.announcedAgain(trial))
	}
	return trial
}

// announced holds a run to its word: the handoff is there, whole, and was moved
// only after its line was written.
func (w *world) announced(r fault.Result) error {
	place := spool.New
	if w.has("bob", spool.Cur, theID) {
		place = spool.Cur
	}
	if err := w.wantBody("bob", place, theID, theBody); err != nil {
		return err // lost
	}
	whole := isLine(string(r.Stdout))
	switch {
	case place == spool.Cur && !whole:
		return fmt.Errorf("moved, and said %q", r.Stdout)
	case r.Status == 0 && (!whole || place != spool.Cur):
		return fmt.Errorf("status 0 in %s/, and said %q", place, r.Stdout)
	case len(r.Stdout) > 0 && !whole:
		return fmt.Errorf("said %q", r.Stdout)
	}
	return nil
}

// announcedAgain wants the next receiver to announce what stands in new/ or
// cur/.
func (w *world) announcedAgain(trial fault.Trial) error {
	a, err := again(trial, 0)
	if err == nil && !isLine(a.stdout) {
		err = fmt.Errorf("the next receiver said %q", a.stdout)
	}
	if err == nil {
		err = w.wantBody("bob", spool.Cur, theID, theBody)
	}
	return err
}

func isLine(out string) bool {
	return strings.HasPrefix(out, string(theID)+"\t") && strings.Index(out, "\n") == len(out)-1
}

// TestReceiving: what was not written out whole is not moved, and what was not
// moved is announced by the next receiver.
func TestReceiving(t *testing.T) {
	recv := fault.Build(t, "xfer/cmd/xfer-recv")
	points := fault.Each(t, func(t *testing.T) fault.Trial {
		return newWorld(t, "", "").create("bob").deliver(spool.Task).receiving(recv)
	})
	tell(fmt.Sprintf("%4d points: receive the first of all", points))
}
