//go:build sync

package synctest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bin is where the programs are, built as they are shipped.
var bin string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "xfer-sync-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bin = dir
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs,urfave_cli_no_suggest", "-o", dir, "xfer/cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// A host is one machine: its name, and its copy of the spool.
type host struct {
	t    *testing.T
	name string
	dir  string
}

// end is how a program ended.
type end struct {
	status         int
	stdout, stderr string
}

func (h *host) command(as, program string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(bin, program), args...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(h.dir), "XFER_SPOOL=" + h.dir, "XFER_NAME=" + as, "XFER_HOST=" + h.name}
	return c
}

// run runs a program with a body on its standard input.
func (h *host) run(as, body, program string, args ...string) end {
	h.t.Helper()
	c := h.command(as, program, args...)
	var stdout, stderr bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(body), &stdout, &stderr
	if err := c.Run(); err != nil && c.ProcessState == nil {
		h.t.Fatal(err)
	}
	return end{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// ok is what a program prints, which has to succeed.
func (h *host) ok(as, body, program string, args ...string) string {
	h.t.Helper()
	return h.exits(0, as, body, program, args...).stdout
}

func (h *host) exits(status int, as, body, program string, args ...string) end {
	h.t.Helper()
	e := h.run(as, body, program, args...)
	if e.status != status {
		h.t.Fatalf("on %s as %s, %s %q: status %d, want %d\n%s%s", h.name, as, program, args, e.status, status, e.stdout, e.stderr)
	}
	return e
}

// send is the id of a handoff that is sent.
func (h *host) send(from, to, kind, body string) string {
	h.t.Helper()
	return strings.TrimSpace(h.ok(from, body, "xfer-send", "-q", "-k", kind, to))
}

// marks is where a handler leaves the ids that it was run for.
func (h *host) marks() string { return h.dir + ".handled" }

// handler is a receiver's command that leaves its mark.
func (h *host) handler() []string {
	return []string{"--", "sh", "-c", `cat >/dev/null; echo "$XFER_HANDOFF_ID" >>` + h.marks()}
}

// handled counts how often a handler was run for each id, on both hosts.
func handled(hosts ...*host) map[string]int {
	n := make(map[string]int)
	for _, h := range hosts {
		b, _ := os.ReadFile(h.marks())
		for id := range strings.FieldsSeq(string(b)) {
			n[id]++
		}
	}
	return n
}

// A receiver is an xfer-recv that runs until it is stopped.
type receiver struct {
	*exec.Cmd
	t      *testing.T
	stderr bytes.Buffer
	ended  chan struct{}
}

func (h *host) receive(as string, args ...string) *receiver {
	h.t.Helper()
	args = append(append([]string{"--poll", "1s"}, args...), h.handler()...)
	r := &receiver{Cmd: h.command(as, "xfer-recv", args...), t: h.t, ended: make(chan struct{})}
	r.Stderr = &r.stderr
	if err := r.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		_ = r.Wait()
	}()
	h.t.Cleanup(func() { r.stop() })
	return r
}

// stop ends the receiver if it runs.
func (r *receiver) stop() {
	_ = r.Process.Signal(syscall.SIGTERM)
	<-r.ended
}

// wantEnd wants that it ends by itself, with a status and a message.
func (r *receiver) wantEnd(status int, message string) {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.t.Fatalf("the receiver goes on: %q", r.stderr.String())
	}
	if got := r.ProcessState.ExitCode(); got != status || !strings.Contains(r.stderr.String(), message) {
		r.t.Errorf("the receiver ended with %d, %q; want %d, %q", got, r.stderr.String(), status, message)
	}
}

const patience = time.Minute

// eventually waits for something that a sync tool brings.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !is() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("not in time: %s", what)
		}
	}
}

// quiet wants that doctor has nothing against the hosts' spools but what is
// expected.
func quiet(t *testing.T, expected string, hosts ...*host) {
	t.Helper()
	for _, h := range hosts {
		e := h.run("alice", "", "xfer-gc", "doctor", "--deep")
		for line := range strings.Lines(e.stdout) {
			if strings.Contains(line, "\tnote\t") || expected != "" && strings.Contains(line, expected) {
				continue
			}
			t.Errorf("on %s doctor says: %s", h.name, line)
		}
	}
}

// same wants a file to have the same bytes on both hosts.
func same(t *testing.T, a, b *host, name string) string {
	t.Helper()
	one, err := os.ReadFile(filepath.Join(a.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil || !bytes.Equal(one, other) {
		t.Errorf("%s differs (%v):\n%s\n---\n%s", name, err, one, other)
	}
	return string(one)
}

// names are the files in a place of a mailbox, sorted.
func (h *host) names(peer, place string) []string {
	entries, _ := os.ReadDir(filepath.Join(h.dir, "peers", peer, place))
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	slices.Sort(all)
	return all
}
