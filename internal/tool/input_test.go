package tool

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cat prints the body.
func cat() *Program {
	return single(func(c *Call) error {
		b, err := c.Body()
		if err != nil {
			return err
		}
		defer b.Close()
		_, err = io.Copy(c.Out.Raw(), b)
		return err
	})
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return r, w
}

// never is a clock by which no time passes.
func never(time.Duration) <-chan time.Time { return nil }

func TestBodyFromStandardInput(t *testing.T) {
	for _, args := range [][]string{nil, {"-f", "-"}, {"--file=-"}} {
		pr := process(t, args...)
		if err := os.WriteFile(pr.Stdin.Name(), []byte("from a file"), 0o600); err != nil {
			t.Fatal(err)
		}
		equal(t, "file", runIn(t, cat(), pr), run{0, "from a file", ""})

		pr = process(t, args...)
		r, w := pipe(t)
		pr.Stdin, pr.After = r, never
		long := strings.Repeat("0123456789abcdef", 3*chunkSize/16) + "end"
		go func() {
			_, _ = io.WriteString(w, long)
			_ = w.Close()
		}()
		equal(t, "pipe", runIn(t, cat(), pr), run{0, long, ""})
	}
}

func TestBodyFromFileLeavesStandardInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, w := pipe(t)
	if _, err := io.WriteString(w, "untouched"); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	pr := process(t, "-f", path)
	pr.Stdin = r
	equal(t, "run", runIn(t, cat(), pr), run{0, "text", ""})
	left, err := io.ReadAll(r)
	equal(t, "left", string(left), "untouched")
	equal(t, "error", err, nil)
}

func TestBodyThatCannotBeOpened(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", "loop"); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, want := range map[string]string{
		"x\x1b":                  `open "x\x1b": no such file`,
		"file/x":                 `open "file/x": not a directory`,
		".":                      `open ".": is a directory`,
		"loop":                   `open "loop": too many levels of symbolic links`,
		"socket":                 `open "socket": is a socket`,
		strings.Repeat("x", 300): `open "` + strings.Repeat("x", 300) + `": file name too long`,
	} {
		equal(t, path, runProgram(t, cat(), "-f", path), run{66, "", "xfer-one: " + want + "\n"})
	}
	equal(t, "no path", runProgram(t, cat(), "-f", ""), run{64, "", "xfer-one: flag \"--file\": needs a value\n"})
	got := FileError("x", &os.PathError{Op: "open", Path: "x", Err: syscall.EACCES})
	equal(t, "permission", got.Error()+" "+ClassOf(got).Name, `open "x": permission denied permission`)
}

func TestTerminalAsBody(t *testing.T) {
	tty, _, _ := terminal(t)
	pr := process(t)
	pr.Stdin = tty
	equal(t, "run", runIn(t, cat(), pr), run{64, "", "xfer-one: the body is read from standard input, which is a terminal\n" +
		"xfer-one: hint: give -f FILE, pipe it in, or type it after -f -\n"})
}

func TestTypedBody(t *testing.T) {
	tty, _, keys := terminal(t)
	pr := process(t, "-f", "-")
	pr.Stdin, pr.After = tty, never
	const endOfFile = "\x04"
	if _, err := keys.WriteString("typed\n" + endOfFile); err != nil {
		t.Fatal(err)
	}
	equal(t, "run", runIn(t, cat(), pr), run{0, "typed\n", ""})
}

// waiting runs cat on a body that does not come, and calls act once the line
// about it was said.
func waiting(t *testing.T, pr *Process, says string, act func(cancel context.CancelFunc)) int {
	t.Helper()
	fired := make(chan time.Time, 1)
	fired <- noon
	pr.After = func(d time.Duration) <-chan time.Time {
		equal(t, "patience", d, 2*time.Second)
		return fired
	}
	r, w := pipe(t)
	stderr := pr.Stderr
	pr.Stderr = w
	defer func() { pr.Stderr = stderr }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		line := make([]byte, len(says))
		_, err := io.ReadFull(r, line)
		if err != nil || string(line) != says {
			t.Errorf("said %q, %v", line, err)
		}
		act(cancel)
	}()
	return RunContext(ctx, cat(), pr)
}

const waitsForInput = "xfer-one: waiting for the body on standard input\n"

func TestLateBody(t *testing.T) {
	pr := process(t)
	r, w := pipe(t)
	pr.Stdin = r
	status := waiting(t, pr, waitsForInput, func(context.CancelFunc) {
		_, _ = io.WriteString(w, "late")
		_ = w.Close()
	})
	equal(t, "run", run{status, content(t, pr.Stdout), ""}, run{0, "late", ""})
}

func TestBodyThatNeverComes(t *testing.T) {
	pr := process(t)
	r, _ := pipe(t)
	pr.Stdin = r
	status := waiting(t, pr, waitsForInput, func(cancel context.CancelFunc) { cancel() })
	equal(t, "run", run{status, content(t, pr.Stdout), ""}, run{130, "", ""})
}

func TestBodyFromFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	says := "xfer-one: waiting for the body from \"" + path + "\"\n"
	pr := process(t, "-f", path)
	status := waiting(t, pr, says, func(context.CancelFunc) {
		if err := os.WriteFile(path, []byte("through a fifo"), 0o600); err != nil {
			t.Error(err)
		}
	})
	equal(t, "written", run{status, content(t, pr.Stdout), ""}, run{0, "through a fifo", ""})

	pr = process(t, "-f", path)
	status = waiting(t, pr, says, func(cancel context.CancelFunc) { cancel() })
	equal(t, "given up", run{status, content(t, pr.Stdout), ""}, run{130, "", ""})
}

func TestBodyEndsWithContext(t *testing.T) {
	pr := process(t)
	if err := os.WriteFile(pr.Stdin.Name(), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	status := RunContext(ctx, single(func(c *Call) error {
		b, err := c.Body()
		if err != nil {
			return err
		}
		cancel()
		_, err = io.ReadAll(b)
		equal(t, "error", err, context.Canceled)
		return err
	}), pr)
	equal(t, "status", status, 130)
}

func TestReadError(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	pr := process(t)
	pr.Stdin, pr.After = dir, never
	equal(t, "run", runIn(t, cat(), pr), run{74, "", "xfer-one: read standard input: is a directory\n"})
}

func TestBodyClosedEarly(t *testing.T) {
	pr := process(t)
	r, w := pipe(t)
	pr.Stdin, pr.After = r, never
	go func() { _, _ = io.WriteString(w, strings.Repeat("x", 16*chunkSize)) }()
	equal(t, "run", runIn(t, single(func(c *Call) error {
		b, err := c.Body()
		if err != nil {
			return err
		}
		if _, err := io.ReadFull(b, make([]byte, 10)); err != nil {
			return err
		}
		return errors.Join(b.Close(), b.Close())
	}), pr), run{})
}
