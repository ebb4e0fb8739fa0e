package fault

import (
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
)

// A Fault is what goes wrong at a call.
type Fault string

// The faults. None is the run that nothing is done to.
const (
	None   Fault = ""
	Kill   Fault = "KILL"   // SIGKILL on entry: the call is not carried out
	ENOSPC Fault = "ENOSPC" // the call fails and is not carried out
	EIO    Fault = "EIO"
	EACCES Fault = "EACCES"
)

// faults are tried at every point.
var faults = []Fault{Kill, ENOSPC, EIO, EACCES}

// lasting names the calls that a sick disk goes on refusing: at these, each
// error is tried a second time, from the point to the end of the process.
var lasting = []string{
	"fsync", "fdatasync", "write", "pwrite64", "linkat", "renameat", "renameat2",
}

// A Trial is one program about to run on something freshly made.
type Trial struct {
	Argv  []string // the program, as Build returned it, and its arguments
	Dir   string   // where it runs
	Env   []string // its whole environment but for GODEBUG and GOGC
	Stdin []byte   // what its standard input holds; nil is /dev/null

	// Check says what is wrong with what the run has left behind, or nil. It
	// sees the undisturbed run as well, with the fault None.
	Check func(Result) error
}

// An Attempt is one fault at one point.
type Attempt struct {
	Point  Call
	Fault  Fault
	Onward bool // every later call of that name fails too
}

// String is the attempt as a name of a subtest: "017-fsync.2-EIO", with a plus
// behind it where the fault lasts.
func (a Attempt) String() string {
	if a.Fault == None {
		return "undisturbed"
	}
	s := fmt.Sprintf("%s-%s", a.Point, a.Fault)
	if a.Onward {
		s += "+"
	}
	return s
}

// A Result is what one run did.
type Result struct {
	Trial
	Attempt
	Stdout, Stderr []byte
	Status         int            // the exit status, -1 where a signal ended it
	Signal         syscall.Signal // 0 where it exited
	Calls          []Call         // main's file-system calls in their order
	Log            []byte         // strace's
}

// Calls runs the program once, undisturbed, and returns the file-system calls
// that main made. The test ends here where Check finds something, or where the
// calls cannot be counted.
func Calls(t *testing.T, setup func(*testing.T) Trial) []Call {
	t.Helper()
	calls, err := undisturbed(t, setup)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// Each runs the program undisturbed, then once for each attempt, in parallel
// subtests that each call setup and Check. It returns the number of points:
// calls at which every fault was seen in the log.
func Each(t *testing.T, setup func(*testing.T) Trial) int {
	t.Helper()
	calls, err := settled(t, setup)
	if err != nil {
		t.Fatal(err)
	}
	attempts := plan(calls)
	hits := make([]atomic.Int32, len(calls))
	var runs atomic.Int32
	passed := t.Run("at", func(t *testing.T) {
		for _, a := range attempts {
			t.Run(a.String(), func(t *testing.T) {
				t.Parallel()
				runs.Add(1)
				hit, err := tryTwice(t, setup, calls, a)
				if hit {
					hits[a.Point.Index].Add(1)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	})
	points := 0
	for i := range hits {
		if int(hits[i].Load()) == attemptsAt(attempts, i) {
			points++
		}
	}
	t.Logf("%d file-system calls, %d points tried, %d runs", len(calls), points, runs.Load())
	// With -run only some attempts are made, which says nothing of the others.
	whole := int(runs.Load()) == len(attempts)
	if passed && whole && points < len(calls) {
		t.Errorf("%d of %d file-system calls were not hit by every fault", len(calls)-points, len(calls))
	}
	return points
}

// plan lists every attempt at every call.
func plan(calls []Call) []Attempt {
	var list []Attempt
	for _, c := range calls {
		for _, f := range faults {
			list = append(list, Attempt{Point: c, Fault: f})
			if f != Kill && slices.Contains(lasting, c.Name) {
				list = append(list, Attempt{Point: c, Fault: f, Onward: true})
			}
		}
	}
	return list
}

func attemptsAt(list []Attempt, index int) int {
	n := 0
	for _, a := range list {
		if a.Point.Index == index {
			n++
		}
	}
	return n
}
