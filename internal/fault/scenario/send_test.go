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

// A sending is a call of xfer-send and what it is to bring about.
type sending struct {
	*world
	trial fault.Trial
	to    []spool.Name
	given bool // by --id: the call again is a replay

	before bool // the id was sent before the run, published or not
}

var sends = []story{
	{"send a notification", func(w *world) fault.Trial {
		w.create("bob")
		return w.sending(false, theBody, "--as", "alice", "-k", "notification", "bob")
	}, false},
	{"send a task, which needs a return address", func(w *world) fault.Trial {
		w.create("bob")
		return w.sending(true, theBody, "--as", "alice", "-k", "task", "--id", string(theID), "bob")
	}, true},
	{"send an id again", func(w *world) fault.Trial {
		w.create("alice", "bob").deliver(spool.Notification)
		return w.sending(true, theBody, "--as", "alice", "-k", "notification", "--id", string(theID), "bob")
	}, false},
	{"send an id that was written and not published", func(w *world) fault.Trial {
		w.create("alice", "bob").deliver(spool.Notification)
		w.must(os.Rename(filepath.Join(w.place("bob", spool.New), string(theID)), w.at("peers", "bob", "tmp", string(theID)+".0000000000000000")))
		w.orphan = true
		return w.sending(true, theBody, "--as", "alice", "-k", "notification", "--id", string(theID), "bob")
	}, false},
	{"send to two peers", func(w *world) fault.Trial {
		w.create("bob", "carol")
		return w.sending(false, theBody, "--as", "alice", "-k", "notification", "bob", "carol")
	}, false},
	{"send a file", func(w *world) fault.Trial {
		w.create("bob")
		w.must(os.WriteFile(filepath.Join(w.dir, "body.md"), []byte(theBody), 0o600))
		return w.sending(false, "", "--as", "alice", "-k", "notification", "bob", "-f", "body.md")
	}, false},
	{"send from a host that has no local/ yet", func(w *world) fault.Trial {
		w.create("bob")
		w.must(os.RemoveAll(w.at("local")))
		w.env[1] = "XFER_HOST=" // the host is found out
		return w.sending(true, theBody, "--as", "alice", "-k", "notification", "--id", string(theID), "bob")
	}, false},
}

func (w *world) sending(given bool, stdin string, args ...string) fault.Trial {
	s := &sending{world: w, trial: w.trial(w.send, stdin, args...), given: given}
	for _, n := range []spool.Name{"bob", "carol"} {
		for _, arg := range args {
			if arg == string(n) {
				s.to = append(s.to, n)
			}
		}
	}
	_, err := os.Lstat(w.at("local", "ids", string(theID[24:]), string(theID)))
	s.before = err == nil
	s.trial.Check = s.check
	return s.trial
}

func (s *sending) check(r fault.Result) error {
	return errors.Join(ended(r), s.sound(r), s.told(r), s.again(r))
}

// told holds what was printed against what stands in new/.
func (s *sending) told(r fault.Result) error {
	lines := strings.SplitAfter(string(r.Stdout), "\n")
	lines = lines[:len(lines)-1]
	if len(lines) > len(s.to) {
		return fmt.Errorf("%d lines for %d peers", len(lines), len(s.to))
	}
	if r.Status == 0 && unsynced(r, spool.New) {
		return errors.New("status 0, and it is not durable")
	}
	if r.Status == 0 && len(lines) < len(s.to) {
		return errors.New("status 0, and an id was not printed")
	}
	all := 0
	for i, n := range s.to {
		line := ""
		if i < len(lines) {
			line = strings.TrimSuffix(lines[i], "\n")
		}
		there := names(s.place(n, spool.New))
		all += len(there)
		if err := s.toldPeer(r, n, line, there); err != nil {
			return err
		}
	}
	// Of an id that was sent before, this call sent nothing.
	if strings.Contains(string(r.Stderr), "nothing was sent") && all == len(s.to) && !s.before {
		return errors.New("said that nothing was sent, and it was")
	}
	return nil
}

func (s *sending) toldPeer(r fault.Result, n spool.Name, line string, there []string) error {
	switch {
	case line != "" && r.Status == 79 && s.before:
		return nil // written, and whether it stands in new/ cannot be told
	case line != "" && line != "-":
		if len(there) != 1 || there[0] != line {
			return fmt.Errorf("printed %s, and new/ of %s has %q", line, n, there)
		}
		return s.wantBody(n, spool.New, spool.ID(line), theBody)
	case r.Status == 0:
		return fmt.Errorf("status 0, and printed %q", line)
	case r.Fault == fault.Kill || s.before:
		return nil
	case len(there) == 0:
		if r.Status == 79 && len(s.to) == 1 {
			return errors.New("status 79, and nothing is there")
		}
		return nil
	case line == "-" || r.Status != 79 && (r.Status != 74 || !onStdout(r)):
		return fmt.Errorf("status %d for %s, and new/ has %q", r.Status, n, there)
	case !strings.Contains(string(r.Stderr), there[0]) && !mute(r):
		return fmt.Errorf("it was sent to %s, and its id is told nowhere", n)
	}
	return nil
}

// again sends once more, with nothing in the way.
func (s *sending) again(r fault.Result) error {
	a, err := again(s.trial, 0)
	if err != nil || !s.given {
		return err
	}
	if a.stdout != string(theID)+"\n" {
		return fmt.Errorf("again: printed %q", a.stdout)
	}
	if there := names(s.place("bob", spool.New)); len(there) != 1 {
		return fmt.Errorf("again: new/ has %q", there)
	}
	if err := s.wantBody("bob", spool.New, theID, theBody); err != nil {
		return err
	}
	other := s.trial
	other.Stdin = []byte("another body")
	if _, err := again(other, 73); err != nil {
		return err
	}
	if err := s.wantBody("bob", spool.New, theID, theBody); err != nil {
		return err
	}
	return s.sound(r)
}
