// Package process_test runs xfer-recv and what else waits as processes of their
// own, built as they are shipped: signals, locks, pipes and processor time are
// the kernel's, and cannot be had in a test binary.
package process_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"xfer/internal/fault/deny"
	"xfer/spool"
)

const (
	host = "testhost-3fa09c11"
	// soon is more than anything here takes on a machine that is busy.
	soon = 30 * time.Second
	// blindVariable has the test binary run the program that it names without
	// inotify.
	blindVariable = "XFER_TEST_BLIND"
)

var programs string // the directory of the built ones

func TestMain(m *testing.M) {
	if program := os.Getenv(blindVariable); program != "" {
		err := deny.Syscalls(syscall.EMFILE, "inotify_init1")
		if err == nil {
			err = syscall.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if programs, err = os.MkdirTemp("", "programs-"); err == nil {
		defer func() { _ = os.RemoveAll(programs) }()
		err = build()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func build() error {
	cmd := exec.Command("go", "build", "-tags", "urfave_cli_no_docs,urfave_cli_no_suggest", "-o", programs,
		"xfer/cmd/xfer-recv", "xfer/cmd/xfer-inbox", "xfer/cmd/xfer-send")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// A world is a spool of the test's own, in which alice sends.
type world struct {
	t   *testing.T
	dir string // the spool
	s   *spool.Spool
}

func newWorld(t *testing.T, peers ...spool.Name) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "spool")}
	sys := spool.NewSystem()
	sys.Env = func(string) string { return "" }
	sys.Host = func() (spool.Host, error) { return host, nil }
	s, err := spool.OpenOrCreate(w.dir, sys.WithoutSync())
	w.must(err)
	w.s = s
	for _, n := range peers {
		_, _, err := s.Create(context.Background(), n, "")
		w.must(err)
	}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// send sends bob n notifications and returns the last one's id.
func (w *world) send(n int) (id spool.ID) {
	w.t.Helper()
	for range n {
		d, err := w.s.NewDelivery(spool.Draft{From: "alice", To: "bob", Kind: spool.Notification, Subject: "s"})
		w.must(err)
		_, err = d.Write([]byte("body"))
		w.must(err)
		r, err := d.Commit(context.Background())
		w.must(err)
		id = r.ID
	}
	return id
}

// names are the names in a place of bob's.
func (w *world) names(p spool.Place) []string {
	w.t.Helper()
	entries, err := os.ReadDir(w.place(p))
	w.must(err)
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.Name()
	}
	return all
}

func (w *world) place(p spool.Place) string { return filepath.Join(w.dir, "peers", "bob", string(p)) }

// state is what the receiver of n says of itself, empty where none ever did.
func (w *world) state(n spool.Name) spool.LiveState {
	b, err := os.ReadFile(filepath.Join(w.dir, "peers", string(n), "live", host+".json"))
	var l spool.Live
	if err == nil {
		err = json.Unmarshal(b, &l)
	}
	if err != nil {
		return ""
	}
	return l.State
}

// eventually waits for what to be true.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(soon); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", soon, what)
		}
	}
}

// A process is a program that runs beside the test.
type process struct {
	*exec.Cmd
	t      *testing.T
	lines  chan string // of standard output; closed at its end
	stderr bytes.Buffer
}

func (w *world) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(programs, program), args...)
	cmd.Env = append(os.Environ(), "XFER_SPOOL="+w.dir, "XFER_HOST="+host, "XFER_NAME=bob")
	return cmd
}

// start runs a program until the test ends or it does.
func (w *world) start(program string, args ...string) *process {
	w.t.Helper()
	return started(w.t, w.command(program, args...))
}

func started(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: cmd, t: t, lines: make(chan string, 1<<15)}
	p.Stderr = &p.stderr
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			p.lines <- in.Text()
		}
	}()
	t.Cleanup(func() { _, _ = p.Process.Kill(), p.Wait() })
	return p
}

// receiver starts xfer-recv and waits until it holds bob's name.
func (w *world) receiver(args ...string) *process {
	w.t.Helper()
	p := w.start("xfer-recv", args...)
	eventually(w.t, "a receiver that is idle", func() bool { return w.state("bob") == spool.Idle })
	return p
}

// line is the next line that p prints.
func (p *process) line() string {
	p.t.Helper()
	select {
	case line, open := <-p.lines:
		if !open {
			p.t.Fatalf("no line any more: %v, %q", p.Wait(), p.stderr.String())
		}
		return line
	case <-time.After(soon):
		p.t.Fatalf("no line within %s", soon)
		return ""
	}
}

// id is the id in the next line.
func (p *process) id() spool.ID {
	p.t.Helper()
	id, _, _ := strings.Cut(p.line(), "\t")
	return spool.ID(id)
}

func (p *process) signal(sig os.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// end is how p ended: a status, or a signal's name. One that does not end is
// killed.
func (p *process) end() string {
	p.t.Helper()
	defer time.AfterFunc(2*soon, func() { _ = p.Process.Kill() }).Stop()
	for range p.lines {
	}
	_ = p.Wait()
	how := p.ProcessState.Sys().(syscall.WaitStatus)
	if how.Signaled() {
		return how.Signal().String()
	}
	return fmt.Sprint(how.ExitStatus())
}

func (p *process) wantEnd(want, stderr string) {
	p.t.Helper()
	if got := p.end(); got != want || p.stderr.String() != stderr {
		p.t.Errorf("ended with %s and said %q, want %s and %q", got, p.stderr.String(), want, stderr)
	}
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
