package fault

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
)

// undisturbed is Calls, with what is wrong as an error.
func undisturbed(t *testing.T, setup func(*testing.T) Trial) ([]Call, error) {
	trial := setup(t)
	r, others, err := run(t.TempDir(), trial, Attempt{})
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		return nil, fmt.Errorf("%s: file-system calls outside main's thread cannot be tried:\n%s",
			trial.Argv[0], bytes.Join(others, []byte("\n")))
	}
	if err := trial.Check(r); err != nil {
		return nil, complaint(r, err)
	}
	return r.Calls, nil
}

// try makes one attempt on a fresh trial. hit tells whether the log shows the
// fault at the point that was meant.
func try(t *testing.T, setup func(*testing.T) Trial, plain []Call, a Attempt) (hit bool, err error) {
	trial := setup(t)
	r, _, err := run(t.TempDir(), trial, a)
	if err != nil {
		return false, err
	}
	if err := struck(r, plain); err != nil {
		return false, complaint(r, err)
	}
	if bytes.Contains(r.Stderr, []byte("\ngoroutine ")) {
		return true, complaint(r, fmt.Errorf("the program panicked"))
	}
	if err := trial.Check(r); err != nil {
		return true, complaint(r, err)
	}
	return true, nil
}

var errOtherWay = errors.New("another way to the point")

// settled is undisturbed, until two runs went the same way: a program that mints
// ids makes a directory for one, or finds it made, as chance has it.
func settled(t *testing.T, setup func(*testing.T) Trial) ([]Call, error) {
	var before []Call
	for range 4 {
		calls, err := undisturbed(t, setup)
		if err != nil {
			return nil, err
		}
		if slices.EqualFunc(calls, before, sameCall) {
			return calls, nil
		}
		before = calls
	}
	return nil, errors.New("it goes another way in every undisturbed run")
}

func sameCall(a, b Call) bool { return a.Name == b.Name && a.Nth == b.Nth }

// tryTwice is try, and once more where chance led another way to the point.
func tryTwice(t *testing.T, setup func(*testing.T) Trial, plain []Call, a Attempt) (hit bool, err error) {
	hit, err = try(t, setup, plain, a)
	if errors.Is(err, errOtherWay) {
		hit, err = try(t, setup, plain, a)
	}
	return hit, err
}

// struck compares the log with the intention: the same way as the undisturbed
// run up to the point, the fault there, and on main's thread nowhere else.
func struck(r Result, plain []Call) error {
	at := r.Point.Index
	if len(r.Calls) <= at {
		return fmt.Errorf("%w: the program ended before it, after %d calls", errOtherWay, len(r.Calls))
	}
	for i, c := range r.Calls[:at+1] {
		if !sameCall(c, plain[i]) {
			return fmt.Errorf("%w: call %d is %s, was %s", errOtherWay, i, c, plain[i])
		}
	}
	if r.Fault == Kill {
		if r.Signal != syscall.SIGKILL {
			return fmt.Errorf("not killed")
		}
		if last := r.Calls[len(r.Calls)-1]; last.Index != at {
			return fmt.Errorf("killed at %s", last)
		}
		return nil
	}
	for _, c := range r.Calls {
		want := c.Index == at || r.Onward && c.Index > at && c.Name == r.Point.Name
		if c.Injected() != want {
			return fmt.Errorf("injected: %t at %s, want %t", c.Injected(), c, want)
		}
	}
	return nil
}

// complaint adds to err what one needs to see of the run.
func complaint(r Result, err error) error {
	const shown = 30
	lines := bytes.Split(bytes.TrimRight(r.Log, "\n"), []byte("\n"))
	lines = lines[max(0, len(lines)-shown):]
	return fmt.Errorf("%s at %s\n%w\nstatus %d, signal %d\nstdout %q\nstderr %q\nend of the log:\n%s",
		r.Attempt, r.Point.Line, err, r.Status, int(r.Signal), r.Stdout, r.Stderr, bytes.Join(lines, []byte("\n")))
}
