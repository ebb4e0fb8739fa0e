package fault

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const toyPackage = "xfer/internal/fault/testdata/toy"

var (
	before = []byte("before\n")
	after  = []byte("after\n")
)

// toy returns a setup that runs program on a directory whose file "done" is
// about to be replaced.
func toy(program, order string) func(*testing.T) Trial {
	return func(t *testing.T) Trial {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "done"), before, 0o600); err != nil {
			t.Fatal(err)
		}
		return Trial{Argv: []string{program, order}, Dir: dir, Stdin: after, Check: checkToy}
	}
}

// checkToy holds the toy to its word: whole in either state, in the new one
// once it was said, and a status that agrees.
func checkToy(r Result) error {
	got, err := os.ReadFile(filepath.Join(r.Dir, "done"))
	if err != nil {
		return err
	}
	said := bytes.Equal(r.Stdout, []byte("replaced\n"))
	switch {
	case !bytes.Equal(got, before) && !bytes.Equal(got, after):
		return fmt.Errorf("done holds %q", got)
	case said && !bytes.Equal(got, after):
		return errors.New("said to be replaced, and is not")
	case said && r.Status > 0:
		return errors.New("said to be replaced, then failed")
	case !said && r.Status == 0:
		return errors.New("nothing said, and status 0")
	case r.Fault == Kill && r.Point.Name == "renameat" && bytes.Equal(got, after):
		return errors.New("the call at which it was killed was carried out")
	}
	return nil
}

func TestEachTriesEveryCall(t *testing.T) {
	setup := toy(Build(t, toyPackage), "right")
	calls := Calls(t, setup)
	if points := Each(t, setup); points != len(calls) {
		t.Errorf("%d points for %d calls", points, len(calls))
	}
}

func TestCallsAreMainsInTheirOrder(t *testing.T) {
	calls := Calls(t, toy(Build(t, toyPackage), "right"))
	want := []string{"read(0,", "openat(", "write(", "fsync(", "close(", "renameat(", "openat(", "fsync(", "write(1,"}
	for _, c := range calls {
		if len(want) > 0 && strings.HasPrefix(c.Line, want[0]) {
			want = want[1:]
		}
	}
	if len(want) > 0 {
		t.Errorf("no %q in its place among %v", want[0], calls)
	}
	if name := calls[0].Name; name != "read" {
		t.Errorf("first call is %s: part of the runtime's start", calls[0])
	}
}

func TestWrongOrderIsCaught(t *testing.T) {
	program := Build(t, toyPackage)
	for _, c := range []struct{ order, at, complaint string }{
		{"says it before the rename", "renameat.1-KILL", "said to be replaced, and is not"},
		{"says it before the rename", "renameat.1-EACCES", "said to be replaced, and is not"},
		{"says it before the sync", "fsync.2-EIO", "said to be replaced, then failed"},
		{"says it before the sync", "fsync.2-EIO+", "said to be replaced, then failed"},
		{"panics", "fsync.2-EIO", "the program panicked"},
	} {
		t.Run(c.order+" "+c.at, func(t *testing.T) {
			setup := toy(program, c.order)
			calls := Calls(t, setup)
			hit, err := try(t, setup, calls, find(t, calls, c.at))
			if !hit || err == nil || !strings.Contains(err.Error(), c.complaint) {
				t.Errorf("hit %t, got %v", hit, err)
			}
		})
	}
}

// find returns the one attempt whose name ends in name.
func find(t *testing.T, calls []Call, name string) Attempt {
	t.Helper()
	attempts := plan(calls)
	i := slices.IndexFunc(attempts, func(a Attempt) bool { return strings.HasSuffix(a.String(), "-"+name) })
	if i < 0 {
		t.Fatalf("no attempt %q in %v", name, attempts)
	}
	return attempts[i]
}

func TestAnotherCallHitIsNoticed(t *testing.T) {
	setup := toy(Build(t, toyPackage), "right")
	calls := Calls(t, setup)
	for _, name := range []string{"fsync.1-KILL", "fsync.1-EIO", "fsync.1-EIO+"} {
		aimed := find(t, calls, name)
		aimed.Point.Nth++
		if hit, err := try(t, setup, calls, aimed); hit || err == nil {
			t.Errorf("%s: hit %t, got %v", aimed, hit, err)
		}
	}
}

func TestAnotherWayIsNoticed(t *testing.T) {
	program := Build(t, toyPackage)
	calls := Calls(t, toy(program, "right"))
	a := find(t, calls, "fsync.2-EIO")
	hit, err := try(t, toy(program, "says it before the rename"), calls, a)
	if hit || err == nil || !strings.Contains(err.Error(), "another way to the point") {
		t.Errorf("hit %t, got %v", hit, err)
	}
}

func TestUncountableCallsAreRefused(t *testing.T) {
	pinned, loose := Build(t, toyPackage), build(t, toyPackage, "")
	for _, c := range []struct{ program, order, complaint string }{
		{loose, "right", "not built with the tag xfer_pin"},
		{pinned, "syncs elsewhere", "outside main's thread"},
	} {
		_, err := undisturbed(t, toy(c.program, c.order))
		if err == nil || !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%s: got %v", c.order, err)
		}
	}
}

func TestMissingStraceIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := undisturbed(t, toy("toy", "right"))
	if err == nil || !strings.Contains(err.Error(), "apt-get install strace") {
		t.Errorf("got %v", err)
	}
}

func TestParse(t *testing.T) {
	const begun = `7 faccessat(AT_FDCWD, "/xfer-pin-main-starts-here", F_OK) = -1 ENOENT` + "\n"
	calls, others, err := parse([]byte(`7 read(3, "", 9) = 0` + "\n" + begun +
		"7 mmap(NULL, 9) = 0x1\n" +
		`7 getrandom("/a", 2, 0) = 2` + "\n" +
		"7 read(0,  <unfinished ...>\n" +
		"8 fsync(5 <unfinished ...>\n" +
		`7 <... read resumed>"x", 9)    = -1 EIO (Input/output error) (INJECTED)` + "\n" +
		"8 <... fsync resumed>) = 0 (INJECTED)\n" +
		"7 close(5) = ?\n+++ killed by SIGKILL +++\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Call{
		{0, "read", 2, `read(0, "x", 9)    = -1 EIO (Input/output error) (INJECTED)`},
		{1, "close", 1, "close(5) = ?"},
	}
	if !slices.Equal(calls, want) {
		t.Errorf("got %+v, want %+v", calls, want)
	}
	if !calls[0].Injected() || calls[1].Injected() {
		t.Error("injected: want the first alone")
	}
	if len(others) != 1 || !bytes.HasPrefix(others[0], []byte("8 fsync(5")) {
		t.Errorf("others: %q", others)
	}
	if _, _, err := parse([]byte(begun + `7 fsnew("/a") = 0` + "\n")); err == nil {
		t.Error("a path in an unknown call is passed over")
	}
}
