package tool

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Talk is what a program says on standard error, a line at a time, each in
// one write. What cannot be said there is lost: standard error is no answer.
// It may be used from several goroutines.
type Talk struct {
	program     string
	quiet, json bool
	reach       string // what a command needs to reach the same spool
	file        *os.File
	after       func(time.Duration) <-chan time.Time

	mu       sync.Mutex
	lost     bool // that standard output failed was said
	progress bool // a progress line stands on the terminal
}

func newTalk(program string, pr *Process, l *line) *Talk {
	return &Talk{program: program, quiet: l.quiet, json: l.json, reach: l.reach(), file: pr.Stderr, after: pr.after}
}

func (pr *Process) after(d time.Duration) <-chan time.Time {
	if pr.After != nil {
		return pr.After(d)
	}
	return time.After(d)
}

// Say says what was changed or is being waited for; -q and --json mute it. A
// Command among args is said so that it reaches the same spool.
func (t *Talk) Say(format string, args ...any) {
	if !t.quiet {
		t.Always(format, args...)
	}
}

// Always says what the user must see under -q too; --json mutes it, since the
// same stands in its objects.
func (t *Talk) Always(format string, args ...any) {
	for i, arg := range args {
		if c, ok := arg.(Command); ok {
			args[i] = t.reaching(c)
		}
	}
	if !t.json {
		t.write(t.program + ": " + Clean(fmt.Sprintf(format, args...)) + "\n")
	}
}

const (
	wipe          = "\r\x1b[K" // to the start of the line, and clear it
	progressEvery = time.Second
)

func (t *Talk) write(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.progress {
		text = wipe + text
		t.progress = false
	}
	_, _ = t.file.WriteString(text)
}

// Progress shows what says, on a terminal and only for work that lasts over a
// second, and again each second until the returned function is called, which
// takes the line away. what is called from another goroutine.
func (t *Talk) Progress(what func() string) (done func()) {
	if t.quiet || t.json || !isTerminal(t.file) {
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-t.after(progressEvery):
				t.show(what())
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-stopped
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.progress {
			_, _ = t.file.WriteString(wipe)
			t.progress = false
		}
	})
}

func (t *Talk) show(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.file.WriteString(wipe + t.program + ": " + Clean(text))
	t.progress = true
}

// isTerminal goes through SyscallConn because Fd would make the file blocking.
func isTerminal(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	yes := false
	_ = conn.Control(func(fd uintptr) {
		_, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
		yes = err == nil
	})
	return yes
}

// Pass hands on what another program printed on its standard error: as it is,
// and to a terminal without what a terminal acts upon.
func (t *Talk) Pass(piece []byte) {
	text := string(piece)
	if isTerminal(t.file) {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = Clean(lines[i])
		}
		text = strings.Join(lines, "\n")
	}
	t.write(text)
}
