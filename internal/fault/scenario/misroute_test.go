package scenario_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"xfer/internal/fault"
	"xfer/spool"
)

// misrouting lets carol's receiver meet a handoff for bob.
func (w *world) misrouting(recv string) fault.Trial {
	trial := w.trial(recv, "", "--as", "carol", "--drain")
	trial.Check = func(r fault.Result) error {
		_, err := again(trial, 0)
		err = errors.Join(ended(r), err, w.sound(r))
		if err == nil && !w.has("carol", spool.Bad, theID) {
			err = fmt.Errorf("it was not set aside")
		}
		// What keeps the notice from the sender is said, and the rest is done.
		hindered := bytes.Contains(r.Stderr, []byte("its sender was not told: "))
		if told := len(names(w.place("alice", spool.New))); err == nil && told != 1 && (told > 1 || !hindered) {
			err = fmt.Errorf("its sender was told %d times", told)
		}
		return err
	}
	return trial
}

// TestMisrouting: killed anywhere, the sender of a handoff that was found in the
// wrong mailbox is told, once.
func TestMisrouting(t *testing.T) {
	recv := fault.Build(t, "xfer/cmd/xfer-recv")
	points := fault.Each(t, func(t *testing.T) fault.Trial {
		w := newWorld(t, "", "").create("alice", "bob", "carol").deliver(spool.Notification)
		w.claim("carol")
		w.must(os.Rename(filepath.Join(w.place("bob", spool.New), string(theID)), filepath.Join(w.place("carol", spool.New), string(theID))))
		return w.misrouting(recv)
	})
	tell(fmt.Sprintf("%4d points: set aside what is another's", points))
}
