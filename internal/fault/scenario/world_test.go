package scenario_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"xfer/internal/fault"
	"xfer/spool"
)

const (
	theID   = spool.ID("01kb9w6t3v8f5s7q2m4x0c1d9e")
	theBody = "# Review the parser\n\nline\x00with a NUL, and no end"
)

// A world is a spool on which one trial runs: alice sends, bob and carol
// receive. The methods that build it end the test on an error.
type world struct {
	t           *testing.T
	dir         string // of everything
	spool       string
	send, inbox string // programs
	env         []string
	sys         *spool.System
	orphan      bool // one is there before the run
}

func newWorld(t *testing.T, send, inbox string) *world {
	w := &world{t: t, dir: t.TempDir(), send: send, inbox: inbox}
	w.spool = filepath.Join(w.dir, "spool")
	w.env = []string{"XFER_SPOOL=" + w.spool, "XFER_HOST=testhost-3fa09c11", "XDG_STATE_HOME=" + filepath.Join(w.dir, "state")}
	sys := spool.NewSystem()
	sys.Env = w.getenv
	w.sys = sys.WithoutSync()
	return w
}

func (w *world) getenv(name string) string {
	for _, e := range w.env {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// create makes the spool and the mailboxes of peers.
func (w *world) create(peers ...spool.Name) *world {
	w.t.Helper()
	s, err := spool.OpenOrCreate(w.spool, w.sys)
	w.must(err)
	for _, n := range peers {
		_, _, err := s.Create(context.Background(), n, "")
		w.must(err)
	}
	return w
}

// deliver sends bob the handoff theID.
func (w *world) deliver(kind spool.Kind) *world {
	w.t.Helper()
	s, err := spool.Open(w.spool, w.sys)
	w.must(err)
	d, err := s.NewDelivery(spool.Draft{ID: theID, From: "alice", To: "bob", Kind: kind, Subject: "Review", Type: "text/markdown"})
	w.must(err)
	_, err = d.Write([]byte(theBody))
	w.must(err)
	_, err = d.Commit(context.Background())
	w.must(err)
	return w
}

// claim makes this host the one that works the mailbox of n.
func (w *world) claim(n spool.Name) *spool.Mailbox {
	w.t.Helper()
	s, err := spool.Open(w.spool, w.sys)
	w.must(err)
	m, err := s.Mailbox(n)
	w.must(err)
	w.must(m.MayWork(context.Background(), false))
	return m
}

// taken lets bob take theID.
func (w *world) taken() *world {
	w.t.Helper()
	c, err := w.claim("bob").ClaimID(context.Background(), theID)
	w.must(err)
	defer c.Release()
	w.must(c.Taken("worker"))
	return w
}

// trial runs a program on this world.
func (w *world) trial(program string, stdin string, args ...string) fault.Trial {
	t := fault.Trial{Argv: append([]string{program}, args...), Dir: w.dir, Env: w.env}
	if stdin != "" {
		t.Stdin = []byte(stdin)
	}
	return t
}

// An answer is what a run without faults gave.
type answer struct {
	stdout, stderr string
	status         int
}

// run runs what trial says, with nothing in its way.
func run(trial fault.Trial) (answer, error) {
	cmd := exec.Command(trial.Argv[0], trial.Argv[1:]...)
	var out, diag bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = trial.Dir, trial.Env, &out, &diag
	cmd.Stdin = bytes.NewReader(trial.Stdin)
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return answer{}, err
	}
	return answer{out.String(), diag.String(), cmd.ProcessState.ExitCode()}, nil
}

// again runs what trial says and wants an answer with this status.
func again(trial fault.Trial, status int) (answer, error) {
	a, err := run(trial)
	if err == nil && a.status != status {
		err = fmt.Errorf("again, without a fault: status %d, want %d; stderr %q", a.status, status, a.stderr)
	}
	return a, err
}

// at is a file of the spool, or of a mailbox.
func (w *world) at(parts ...string) string {
	return filepath.Join(append([]string{w.spool}, parts...)...)
}

func (w *world) place(n spool.Name, p spool.Place) string {
	return w.at("peers", string(n), string(p))
}

// has tells whether id stands in place p of n.
func (w *world) has(n spool.Name, p spool.Place, id spool.ID) bool {
	_, err := os.Lstat(filepath.Join(w.place(n, p), string(id)))
	return err == nil
}

// names are the names in a directory, none where it is not there.
func names(dir string) []string {
	entries, _ := os.ReadDir(dir)
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.Name()
	}
	return all
}

// body is the body of id in place p of n.
func (w *world) body(n spool.Name, p spool.Place, id spool.ID) (string, error) {
	b, err := os.ReadFile(filepath.Join(w.place(n, p), string(id)))
	_, body, _ := bytes.Cut(b, []byte("\n\n"))
	return string(body), err
}

// wantBody is nil where id stands in place p of n with that body.
func (w *world) wantBody(n spool.Name, p spool.Place, id spool.ID, want string) error {
	got, err := w.body(n, p, id)
	if err == nil && got != want {
		err = fmt.Errorf("%s/%s/%s has the body %q", n, p, id, got)
	}
	return err
}

// onStdout tells whether the fault hit standard output.
func onStdout(r fault.Result) bool { return lost(r, "write(1,") }

// mute tells whether it hit standard error: the program could not say a word.
func mute(r fault.Result) bool { return lost(r, "write(2,") }

func lost(r fault.Result, call string) bool {
	for _, c := range r.Calls {
		if c.Injected() && strings.HasPrefix(c.Line, call) {
			return true
		}
	}
	return false
}

// unsynced tells whether a handoff that was on its way to place p could not be
// made durable: the sync of its file failed, or the first one after its move.
func unsynced(r fault.Result, p spool.Place) bool {
	file, moved := "", false
	for _, c := range r.Calls {
		switch {
		case c.Name == "openat" && strings.Contains(c.Line, "/peers/") && strings.Contains(c.Line, "/tmp/01") && strings.Contains(c.Line, "O_CREAT"):
			file = "fsync(" + c.Line[strings.LastIndexByte(c.Line, ' ')+1:] + ")"
		case strings.HasPrefix(c.Name, "renameat"), c.Name == "linkat":
			moved = moved || strings.Contains(c.Line, "/"+string(p)+"/01")
		case c.Name == "fsync" && moved:
			return c.Injected()
		case c.Name == "fsync" && file != "" && strings.HasPrefix(c.Line, file) && c.Injected():
			return true
		}
	}
	return false
}

// ended wants an exit by the table, that fits the fault and is explained.
func ended(r fault.Result) error {
	if r.Fault == fault.Kill {
		return nil
	}
	if r.Signal != 0 {
		return fmt.Errorf("died of signal %d", int(r.Signal))
	}
	allowed := map[fault.Fault]int{fault.None: 0, fault.ENOSPC: 75, fault.EIO: 74, fault.EACCES: 77}[r.Fault]
	switch {
	case r.Status == 0:
		return nil
	case r.Fault == fault.None:
		return fmt.Errorf("status %d undisturbed", r.Status)
	case r.Status == allowed, r.Status == 79, r.Status == 74 && onStdout(r):
	default:
		return fmt.Errorf("status %d, want 0, 79 or %d", r.Status, allowed)
	}
	prefix := filepath.Base(r.Argv[0]) + ": "
	if !bytes.HasPrefix(r.Stderr, []byte(prefix)) && !mute(r) {
		return fmt.Errorf("status %d without a message", r.Status)
	}
	return nil
}

// sound holds the spool to its format. What a kill leaves may be noted. After
// anything else nothing is left to note, but for a task that is concluded and
// was not moved, and for what could not be removed because that was the fault.
func (w *world) sound(r fault.Result) error {
	s, err := spool.Open(w.spool, w.sys)
	if err != nil {
		return err
	}
	found, err := s.Check(context.Background())
	if err != nil {
		return err
	}
	for _, f := range found {
		left := r.Fault == fault.Kill || w.orphan || lost(r, "unlink") || f.Check == "conclusion"
		if f.Severity != spool.Note || !left {
			err = errors.Join(err, errors.New(f.String()))
		}
	}
	return err
}
