//go:build ratio

package ratio

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"xfer/spool"
)

const (
	handlerLimit = 1.5 // from the publish to a handler's first instruction, in times of the yardstick
	namesLimit   = 1.3 // a thousand names on one receiver, in times of one
	manyNames    = 1000
	handlerTimes = 60
	handlerWarm  = 5
)

const published = `From: bench@bench-00000000
To: %s@xfer
Subject: a yardstick
Date: Mon, 30 Nov 2026 06:33:33 +0000
Message-ID: <%s@xfer>
MIME-Version: 1.0
Content-Type: text/markdown; charset=utf-8
Content-Transfer-Encoding: 8bit
Xfer-Kind: notification
Xfer-Size: %012d
Xfer-Digest: sha256:%x

%s`

// A wakened is a receiver under measurement: each handler prints when it
// began.
type wakened struct {
	name  spool.Name
	lines *bufio.Reader
	times []float64 // ms from the publish to the handler's first instruction
}

// TestHandlerWake compares, in one run, a bare loop of inotify, temp document,
// fork and exec with xfer-recv on one name and on many.
func TestHandlerWake(t *testing.T) {
	dir := t.TempDir()
	first := compile(t, dir, "first")
	recv := filepath.Join(dir, "xfer-recv")
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs,urfave_cli_no_suggest", "-o", recv, "xfer/cmd/xfer-recv")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	root := filepath.Join(dir, "spool")
	if err := exec.Command(recv, "--spool", root, "--as", "floor", "--drain").Run(); err != nil {
		t.Fatal(err)
	}
	names := []string{"--spool", root}
	for i := range manyNames {
		names = append(names, "--as", "many"+strconv.Itoa(i))
	}
	all := []*wakened{
		begin(t, root, "floor", compile(t, dir, "floor_handle"), filepath.Join(root, "peers/floor/new"), filepath.Join(dir, "doc"), first),
		begin(t, root, "one", recv, "-q", "--spool", root, "--as", "one", "--", first),
		begin(t, root, "many500", recv, append(names, "--", first)...),
	}
	var toFloor, toOne []float64
	for range tries {
		measureWakes(t, root, all)
		toFloor = append(toFloor, median(all[1].times)/median(all[0].times))
		toOne = append(toOne, median(all[2].times)/median(all[1].times))
		t.Logf("medians: %.3f ms, %.3f ms, %.3f ms", median(all[0].times), median(all[1].times), median(all[2].times))
		if median(toFloor) <= handlerLimit && median(toOne) <= namesLimit {
			return
		}
	}
	t.Errorf("a handler begins after × %.2f of the yardstick, at most %.1f; of %d names after × %.2f of one, at most %.1f",
		toFloor, handlerLimit, manyNames, toOne, namesLimit)
}

// compile builds the C program of that name in bench/.
func compile(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if out, err := exec.Command("gcc", "-O2", "-o", path, "../"+name+".c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return path
}

// begin starts a receiver, and returns when it watches and is at rest.
func begin(t *testing.T, root string, name spool.Name, program string, args ...string) *wakened {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	w := &wakened{name: name, lines: bufio.NewReader(out)}
	for deadline := time.Now().Add(time.Minute); !watching(cmd.Process.Pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not watch", name)
		}
	}
	return w
}

// watching tells whether a process has inotify watches (proc(5), fdinfo).
func watching(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && strings.Contains(string(b), "inotify wd:") {
			return true
		}
	}
	return false
}

// measureWakes publishes to each in turn, round after round.
func measureWakes(t *testing.T, root string, all []*wakened) {
	t.Helper()
	sys := spool.NewSystem()
	for _, w := range all {
		w.times = nil
	}
	for round := range handlerWarm + handlerTimes {
		for i := range all {
			w := all[(i+round)%len(all)]
			took, err := w.once(root, sys)
			if err != nil {
				t.Fatalf("%s: %v", w.name, err)
			}
			if round >= handlerWarm {
				w.times = append(w.times, took)
			}
		}
	}
}

// once publishes a handoff and reads when its handler began.
func (w *wakened) once(root string, sys *spool.System) (ms float64, err error) {
	id, err := sys.NewID()
	if err != nil {
		return 0, err
	}
	body := strings.Repeat("a line of a body\n", 60)
	text := fmt.Sprintf(published, w.name, id, len(body), sha256.Sum256([]byte(body)), body)
	mailbox := filepath.Join(root, "peers", string(w.name))
	temp := filepath.Join(mailbox, "tmp", string(id)+".wake")
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		return 0, err
	}
	time.Sleep(10 * time.Millisecond) // the receiver is back at waiting
	start := monotonic()
	if err := os.Rename(temp, filepath.Join(mailbox, "new", string(id))); err != nil {
		return 0, err
	}
	line, err := w.lines.ReadString('\n')
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return 0, err
	}
	began, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return float64(began-start) / float64(time.Millisecond), err
}

// monotonic is the clock that the handlers read.
func monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}
