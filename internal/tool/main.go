package tool

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"xfer/spool"
)

// Main runs p with what the operating system gave this process, and exits
// with its status. At SIGINT or SIGTERM it ends Call.Ctx, waits until the verb
// has returned, and dies of that signal; another signal later kills at once.
func Main(p *Program) {
	ctx, caught, begin := watchSignals()
	status := RunContext(ctx, p, &Process{
		Args:   os.Args,
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		System: spool.NewSystem(),
		signal: begin,
	})
	if sig := syscall.Signal(caught.Load()); sig != 0 {
		dieOf(sig)
		status = signalled + int(sig)
	} else if status == signalled+int(syscall.SIGPIPE) {
		dieOfPipe()
	}
	os.Exit(status)
}

// Stay is for a verb that stays and has something to give up when it ends.
// From now on a signal ends Ctx, and a write to a closed pipe is an error
// (ErrOutput and EPIPE), where either would end the process at once. Main dies
// of the signal afterwards, SIGPIPE too.
func (c *Call) Stay() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	c.CatchSignals()
}

// CatchSignals is for a brief verb that comes to wait: from now on SIGINT and
// SIGTERM end Ctx, where they would end the process at once. Of the other
// verbs that holds from the beginning.
func (c *Call) CatchSignals() {
	if c.Process.signal != nil {
		c.Process.signal()
	}
}

// signalled is what a shell adds to the number of the signal a process died of.
const signalled = 128

// interrupted is why a context ended.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string { return i.signal.String() }

// watchSignals returns a context that ends at the first signal, where its
// number is kept from then on, and a function with which this begins.
func watchSignals() (ctx context.Context, caught *atomic.Int32, begin func()) {
	caught = new(atomic.Int32)
	ctx, cancel := context.WithCancelCause(context.Background())
	begin = sync.OnceFunc(func() {
		watched := notIgnored(syscall.SIGINT, syscall.SIGTERM)
		if len(watched) == 0 {
			return // Notify without signals would catch them all
		}
		ch := make(chan os.Signal, 1)
		signal.Notify(ch, watched...)
		go func() {
			sig := (<-ch).(syscall.Signal)
			caught.Store(int32(sig))
			for _, other := range watched {
				if other != sig {
					signal.Reset(other)
				}
			}
			cancel(interrupted{sig})
			time.AfterFunc(sameSignal, func() { signal.Reset(sig) })
		}()
	})
	return ctx, caught, begin
}

// notIgnored are those that may be caught: a shell starts its background jobs
// with SIGINT ignored, and Notify would undo that.
func notIgnored(all ...os.Signal) []os.Signal {
	return slices.DeleteFunc(all, signal.Ignored)
}

// sameSignal is within which time a signal that comes twice means one:
// timeout(1), for one, sends its own to the program and then to the program's
// group.
const sameSignal = time.Second

// dieOfPipe dies of SIGPIPE as os does where nobody has asked for that signal:
// at a write to a closed pipe on descriptor 1. The runtime ignores one that is
// sent.
func dieOfPipe() {
	signal.Reset(syscall.SIGPIPE)
	var p [2]int
	if unix.Pipe2(p[:], unix.O_CLOEXEC) != nil || unix.Close(p[0]) != nil || unix.Dup3(p[1], 1, 0) != nil {
		return
	}
	_, _ = os.Stdout.Write([]byte{'\n'})
}

// dieOf returns only where sig does not kill. The signal goes to this very
// thread: one that is sent to the process can reach another thread after this
// one has already exited with a plain status.
func dieOf(sig syscall.Signal) {
	signal.Reset(sig)
	runtime.LockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), sig)
}
