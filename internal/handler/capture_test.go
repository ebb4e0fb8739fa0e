package handler

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// run runs a shell script whose standard output is captured.
func run(t *testing.T, script string, limit int64, to io.Writer) Result {
	t.Helper()
	stdin, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = stdin.Close(), w.Close() }) // what was left behind ends with w
	p, err := Start(Command{Argv: []string{"sh", "-c", script}, Env: os.Environ(), Stdin: stdin, Capture: to, Limit: limit, Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return p.Wait()
}

// All that a handler printed is kept when it has ended, also what is still in
// the pipe, and though a daemon that it left behind keeps that open.
func TestCapture(t *testing.T) {
	const size = 200_000
	var out bytes.Buffer
	res := run(t, `exec 3<&0; cat <&3 & exec head -c 200000 /dev/zero`, size, &out)
	if res.Status != 0 || res.Capture != nil || out.Len() != size {
		t.Errorf("%+v, and %d bytes of %d are kept", res, out.Len(), size)
	}
}

// A handler that prints more than the limit is ended.
func TestCaptureTooMuch(t *testing.T) {
	for script, signal := range map[string]syscall.Signal{"exec yes": syscall.SIGTERM, "printf 'more than ten'": 0} {
		var out bytes.Buffer
		res := run(t, script, 10, &out)
		if !errors.Is(res.Capture, ErrTooMuch) || out.Len() > 10 || signal != 0 && res.Signal != signal {
			t.Errorf("%s: %+v, and %d bytes are kept", script, res, out.Len())
		}
	}
	var out strings.Builder
	if res := run(t, "printf 'ten bytes.'", 10, &out); res.Capture != nil || out.String() != "ten bytes." {
		t.Errorf("at the limit: %+v, %q", res, out.String())
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// So is one whose output cannot be kept.
func TestCaptureFullDisk(t *testing.T) {
	if res := run(t, "exec yes", 1<<40, fullDisk{}); !errors.Is(res.Capture, syscall.ENOSPC) || res.Signal != syscall.SIGTERM {
		t.Errorf("%+v", res)
	}
}
