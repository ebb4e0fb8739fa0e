// Package scenario_test tries the programs against a failing file system: each
// story of a send, a take or a conclusion is told once for each file-system call
// in it and each thing that can go wrong there. What must hold afterwards is
// what the format promises:
//
//   - an id that was printed is a handoff, whole, in new/;
//   - a failed call sent nothing, left nothing in tmp/ or the registry, and says
//     so; one that cannot tell says 79 and the id;
//   - a handoff is never half, never lost, never in two places; a task has at
//     most one conclusion;
//   - the same call again, with nothing in its way, completes the story.
//
// XFER_TEST_DENY names a system call, linkat or renameat2, that is not to be
// had: TestMain takes it away, and the stories are told without it.
package scenario_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"xfer/internal/fault"
	"xfer/internal/fault/deny"
)

const denyVariable = "XFER_TEST_DENY"

// report is printed when all is done: tests that pass show nothing else.
var report struct {
	sync.Mutex
	lines []string
}

func tell(line string) {
	report.Lock()
	defer report.Unlock()
	report.lines = append(report.lines, line)
}

func TestMain(m *testing.M) {
	if err := denied(os.Getenv(denyVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	remove := inMemory()
	status := m.Run()
	remove()
	for _, line := range report.lines {
		fmt.Println(line)
	}
	os.Exit(status)
}

func denied(name string) error {
	switch name {
	case "":
		return nil
	case "linkat":
		return deny.Syscalls(syscall.EPERM, "link", "linkat")
	case "renameat2":
		return deny.Syscalls(syscall.ENOSYS, "renameat2")
	}
	return errors.New(denyVariable + ": neither linkat nor renameat2")
}

// A story is what is set up, run and looked at once for each fault.
type story struct {
	name  string
	setup func(*world) fault.Trial
	// short: told without linkat and without renameat2 too.
	short bool
}

func TestStories(t *testing.T) {
	without := os.Getenv(denyVariable)
	send, inbox := programs(t)
	points := 0
	for _, s := range stories {
		if without != "" && !s.short {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			n := fault.Each(t, func(t *testing.T) fault.Trial {
				return s.setup(newWorld(t, send, inbox))
			})
			points += n
			tell(fmt.Sprintf("%4d points: %s", n, s.name))
		})
	}
	if without != "" {
		tell(fmt.Sprintf("%4d points in all, without %s", points, without))
		return
	}
	tell(fmt.Sprintf("%4d points in all", points))
}

// inMemory lets the worlds stand on a file system in memory, unless somebody has
// chosen a place: what a disk does is strace's part, and there are some ten
// thousand worlds.
func inMemory() (remove func()) {
	dir, err := "", error(nil)
	if os.Getenv("TMPDIR") == "" {
		dir, err = os.MkdirTemp("/dev/shm", "xfer-scenario-")
	}
	if dir == "" || err != nil {
		return func() {}
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return func() { _ = os.RemoveAll(dir) }
}

func programs(t *testing.T) (send, inbox string) {
	return fault.Build(t, "xfer/cmd/xfer-send"), fault.Build(t, "xfer/cmd/xfer-inbox")
}

func TestStoriesWithoutHardLinks(t *testing.T) { toldWithout(t, "linkat") }
func TestStoriesWithoutRename2(t *testing.T)   { toldWithout(t, "renameat2") }

// toldWithout tells the stories in a process that call is taken away from:
// what is denied stays denied until a process ends.
func toldWithout(t *testing.T, call string) {
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestStories$")
	cmd.Env = append(os.Environ(), denyVariable+"="+call)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	last := ""
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "points in all, without "+call) {
			last = strings.TrimRight(line, "\n")
		}
	}
	if last == "" || bytes.Contains(out, []byte("no tests to run")) {
		t.Fatalf("no stories were told:\n%s", out)
	}
	tell(last)
}
