// Package handler runs a command for a handoff: without a shell, in a process
// group of its own, for a limited time, its standard output captured up to a
// limit where that is asked for, its standard error kept to the last few
// kilobytes, whatever it prints.
//
// A handler inherits the locked descriptor of its handoff as descriptor 3, so
// that nobody runs it a second time while it lives, even if its receiver was
// killed. It outlives its receiver on purpose.
package handler

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A Command is what to run, and how.
type Command struct {
	Argv    []string
	Env     []string
	Stdin   *os.File
	Stdout  *os.File           // nil where it is captured
	Capture io.Writer          // where standard output is kept; nil: nowhere
	Limit   int64              // of what is captured, in bytes
	Stderr  func(piece []byte) // sees all that is printed there; may be nil
	Lock    *os.File           // the handoff's locked descriptor
	Timeout time.Duration      // 0: none
	Grace   time.Duration      // between TERM and KILL
}

// A Result is how a handler ended.
type Result struct {
	Status   int // as a shell reads it: 128 and the signal's number after a signal
	Signal   syscall.Signal
	TimedOut bool
	Stopped  bool  // Stop was called before it ended
	Capture  error // why not all that it printed was kept, for which it was asked to end: ErrTooMuch, or the writer's
	Duration time.Duration
	Tail     []byte // the end of its standard error
}

// A Process is a handler that was started.
type Process struct {
	cmd     *exec.Cmd
	capture *capture // nil where there is none
	grace   time.Duration
	began   time.Time
	tail    *tail
	stderr  *os.File      // the end that is read
	drained chan struct{} // closed at the end of standard error
	stop    chan struct{}
	done    chan struct{}
	timeout <-chan time.Time
}

// Start starts c. What it was given may be closed by the caller afterwards.
func Start(c Command) (*Process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &Process{grace: c.Grace, tail: &tail{}, stderr: r, drained: make(chan struct{}), stop: make(chan struct{}, 1), done: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: c.Argv[0], Args: c.Argv, Env: c.Env, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: w,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if c.Capture != nil {
		var stdout *os.File
		if p.capture, stdout, err = newCapture(c.Capture, c.Limit); err != nil {
			_, _ = r.Close(), w.Close()
			return nil, err
		}
		defer func() { _ = stdout.Close() }()
		p.cmd.Stdout = stdout
	}
	if c.Lock != nil {
		p.cmd.ExtraFiles = []*os.File{c.Lock}
	}
	if path, err := exec.LookPath(c.Argv[0]); err == nil {
		p.cmd.Path = path
	}
	p.began = time.Now()
	err = p.cmd.Start()
	_ = w.Close()
	if err != nil {
		_ = r.Close()
		if p.capture != nil {
			_ = p.capture.r.Close()
		}
		return nil, err
	}
	if c.Timeout > 0 {
		p.timeout = time.After(c.Timeout)
	}
	go p.drain(c.Stderr)
	if p.capture != nil {
		go p.capture.run()
	}
	return p, nil
}

// drain reads standard error to its end, which may come long after the
// handler's: a daemon that it left behind is not killed by a closed pipe.
func (p *Process) drain(see func([]byte)) {
	defer close(p.drained)
	defer func() { _ = p.stderr.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := p.stderr.Read(buf)
		p.tail.add(buf[:n])
		if see != nil && n > 0 {
			see(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// Stop asks the handler to end: TERM to its process group, and KILL after the
// grace. It does not wait.
func (p *Process) Stop() {
	select {
	case p.stop <- struct{}{}:
	default:
	}
}

// afterwards is how long what was printed last is waited for once the handler
// has ended: all of it is in the pipe by then, unless a daemon goes on.
const afterwards = 200 * time.Millisecond

// Wait waits for the handler's end and says how it was.
func (p *Process) Wait() Result {
	var r Result
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	kill, full := (<-chan time.Time)(nil), (<-chan struct{})(nil)
	if p.capture != nil {
		full = p.capture.full
	}
	for {
		select {
		case <-ended:
			r.Duration = time.Since(p.began)
			p.settle(&r)
			return r
		case <-p.timeout:
			r.TimedOut, p.timeout = true, nil
			kill = p.term(kill)
		case <-p.stop:
			r.Stopped = true
			kill = p.term(kill)
		case <-full:
			r.Capture, full = p.capture.err, nil
			kill = p.term(kill)
		case <-kill:
			p.signal(syscall.SIGKILL)
			kill = nil
		}
	}
}

func (p *Process) term(kill <-chan time.Time) <-chan time.Time {
	p.signal(syscall.SIGTERM)
	if kill != nil {
		return kill
	}
	return time.After(p.grace)
}

// signal reaches the whole process group. The handler has not been waited for
// yet, so its number is still its own.
func (p *Process) signal(sig syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, sig)
}

func (p *Process) settle(r *Result) {
	if state, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
		r.Status = state.ExitStatus()
		if state.Signaled() {
			r.Signal = state.Signal()
			r.Status = 128 + int(r.Signal)
		}
	}
	if r.TimedOut || r.Stopped || r.Capture != nil {
		// What it left in its group was to end with it.
		p.signal(syscall.SIGKILL)
	}
	if p.capture != nil {
		r.Capture = p.capture.end()
	}
	select {
	case <-p.drained:
	case <-time.After(afterwards):
	}
	r.Tail = p.tail.bytes()
}

// ErrNoCommand is what Look says of a command that is not there.
var ErrNoCommand = errors.New("no such command")

// Look finds the command that argv names, as execvp(3) would. The error is
// ErrNoCommand, or why what is there is none.
func Look(argv []string) error {
	_, err := exec.LookPath(argv[0])
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return ErrNoCommand
	}
	if why, ok := errors.AsType[*exec.Error](err); ok {
		return why.Err // the caller names it
	}
	return err
}
