package fault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limit is how long a run may last; a program that never gives up on a call
// that goes on failing would hang the test instead.
const limit = time.Minute

// quiet keeps the Go runtime from making file-system calls of its own while
// main runs: no look at the cgroup from another thread, no finalizer that
// closes a file at some random moment, no signal that interrupts a call.
var quiet = []string{
	"GODEBUG=containermaxprocs=0,updatemaxprocs=0,asyncpreemptoff=1",
	"GOGC=off",
}

// run makes one attempt; own is a directory for the run's own files. It is an
// error where strace cannot be run or its log cannot be understood, whatever
// the program's exit status.
func run(own string, trial Trial, a Attempt) (Result, [][]byte, error) {
	r := Result{Trial: trial, Attempt: a}
	strace, err := exec.LookPath("strace")
	if err != nil {
		return r, nil, errors.New("strace is not installed: apt-get install strace")
	}
	path := func(name string) string { return filepath.Join(own, name) }
	args := append(options(a), "-o", path("log"))

	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, strace, append(args, trial.Argv...)...)
	cmd.Dir = trial.Dir
	cmd.Env = append(quiet[:len(quiet):len(quiet)], trial.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	closeAll, err := redirect(cmd, trial.Stdin, path)
	if err != nil {
		return r, nil, err
	}
	err = cmd.Run()
	closeAll()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return r, nil, err
	}
	if err := r.collect(cmd.ProcessState, path); err != nil {
		return r, nil, err
	}
	if ctx.Err() != nil {
		return r, nil, complaint(r, fmt.Errorf("still running after %v", limit))
	}
	calls, others, err := parse(r.Log)
	if err != nil {
		return r, nil, complaint(r, err)
	}
	r.Calls = calls
	return r, others, nil
}

// options are strace's for an attempt. The undisturbed run is traced whole, so
// that parse can tell what is missing from the list of names.
func options(a Attempt) []string {
	opts := []string{"-f", "-qq"}
	if a.Fault == None {
		return opts
	}
	what := "error=" + string(a.Fault)
	if a.Fault == Kill {
		what = "signal=KILL"
	}
	when := fmt.Sprintf("when=%d", a.Point.Nth)
	if a.Onward {
		when += "+"
	}
	if a.Fault != Kill && !filtered() {
		opts = append(opts, "--seccomp-bpf") // no stop at any other call
	}
	// The question mark passes over names that this architecture lacks.
	return append(opts,
		"-e", "trace=?"+strings.Join(fileSystem, ",?"),
		"-e", fmt.Sprintf("inject=%s:%s:%s", a.Point.Name, what, when))
}

// filtered tells whether calls may be denied to this process and its children,
// as package deny does: they fail before they come to a filter of strace's, and
// so cannot be counted there. Neither does a signal that strace injects come
// through, see PTRACE_EVENT_SECCOMP in ptrace(2).
var filtered = sync.OnceValue(func() bool {
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return err != nil || mode != unix.SECCOMP_MODE_DISABLED
})

// redirect gives the command regular files; the caller closes them.
func redirect(cmd *exec.Cmd, stdin []byte, path func(string) string) (closeAll func(), err error) {
	var open []*os.File
	closeAll = func() {
		for _, f := range open {
			_ = f.Close()
		}
	}
	create := func(name string) *os.File {
		f, e := os.Create(path(name))
		if e != nil {
			err = errors.Join(err, e)
			return nil
		}
		open = append(open, f)
		return f
	}
	cmd.Stdout, cmd.Stderr = create("stdout"), create("stderr")
	if stdin != nil {
		in := create("stdin")
		if err == nil {
			_, e1 := in.Write(stdin)
			_, e2 := in.Seek(0, 0)
			err = errors.Join(e1, e2)
		}
		cmd.Stdin = in
	}
	if err != nil {
		closeAll()
	}
	return closeAll, err
}

// collect fills in what the finished run left.
func (r *Result) collect(state *os.ProcessState, path func(string) string) error {
	r.Status = state.ExitCode()
	// strace ends as its program did, by the same signal.
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.Signal = ws.Signal()
	}
	var errs [3]error
	r.Stdout, errs[0] = os.ReadFile(path("stdout"))
	r.Stderr, errs[1] = os.ReadFile(path("stderr"))
	r.Log, errs[2] = os.ReadFile(path("log"))
	return errors.Join(errs[:]...)
}
