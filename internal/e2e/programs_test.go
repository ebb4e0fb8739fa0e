package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// bin is where the programs are, built once as they are shipped: with the race
// detector they would start slowly and be large.
var bin string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "xfer-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs,urfave_cli_no_suggest", "-o", dir, "xfer/cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// A bench is a spool and what runs the programs on it.
type bench struct {
	t   testing.TB
	dir string // the spool
}

// newBench has a spool with a mailbox for each name.
func newBench(t testing.TB, names ...string) *bench {
	t.Helper()
	b := &bench{t, filepath.Join(t.TempDir(), "spool")}
	for _, n := range names {
		b.ok(b.inbox(n, "create"))
	}
	return b
}

func (b *bench) command(as, program string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(bin, program), args...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(b.dir), "XFER_SPOOL=" + b.dir, "XFER_NAME=" + as, "XFER_HOST=here"}
	return c
}

func (b *bench) send(as string, args ...string) *exec.Cmd { return b.command(as, "xfer-send", args...) }

func (b *bench) inbox(as string, args ...string) *exec.Cmd {
	return b.command(as, "xfer-inbox", args...)
}

// An end is how a process ended.
type end struct {
	status         int // -1: by a signal
	signal         syscall.Signal
	stdout, stderr string
}

func (e end) String() string {
	return fmt.Sprintf("status %d, signal %v\nstdout: %.300q\nstderr: %.300q", e.status, e.signal, e.stdout, e.stderr)
}

// run runs c to its end; what c has no place for is caught.
func (b *bench) run(c *exec.Cmd) end {
	b.t.Helper()
	var stdout, stderr bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &stdout
	}
	c.Stderr = &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Errorf("%v: %v", c.Args, err)
		return end{status: -1}
	}
	w := c.ProcessState.Sys().(syscall.WaitStatus)
	e := end{status: c.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
	if w.Signaled() {
		e.signal = w.Signal()
	}
	return e
}

// exits runs c and wants its status.
func (b *bench) exits(status int, c *exec.Cmd) end {
	b.t.Helper()
	e := b.run(c)
	if e.status != status {
		b.t.Errorf("%q: want status %d\n%v", c.Args[1:], status, e)
	}
	return e
}

// ok is what c prints, which has to succeed.
func (b *bench) ok(c *exec.Cmd) string {
	b.t.Helper()
	e := b.run(c)
	if e.status != 0 {
		b.t.Fatalf("%q: %v", c.Args[1:], e)
	}
	return e.stdout
}

// with gives c a body.
func with(c *exec.Cmd, body string) *exec.Cmd {
	c.Stdin = strings.NewReader(body)
	return c
}

// id sends a body and is the new id.
func (b *bench) id(c *exec.Cmd, body string) string {
	b.t.Helper()
	return strings.TrimSuffix(b.ok(with(c, body)), "\n")
}

// names are the names in a place of a mailbox.
func (b *bench) names(peer, place string) []string {
	b.t.Helper()
	entries, err := os.ReadDir(filepath.Join(b.dir, "peers", peer, place))
	if err != nil {
		b.t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// tree is every name below the spool, with mode, size and bytes.
func (b *bench) tree() string {
	b.t.Helper()
	var s strings.Builder
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&s, "%s %v", path, info.Mode())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&s, " %x", data)
		}
		s.WriteByte('\n')
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return s.String()
}

// A gate holds processes back: each waits for the end of its standard input,
// or of what it is given as such, and all see it at once.
type gate struct {
	r, w *os.File
}

func newGate(t testing.TB) *gate {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return &gate{r, w}
}

// behind is a command that runs c once the gate opens: the shell is started
// and waits in read, so that nothing but an exec is left to do.
func (g *gate) behind(c *exec.Cmd) *exec.Cmd {
	held := exec.Command("/bin/sh", append([]string{"-c", `read -r _ <&3; exec 3<&-; exec "$@"`, "sh"}, append([]string{c.Path}, c.Args[1:]...)...)...)
	held.Env, held.Stdin, held.Stdout = c.Env, c.Stdin, c.Stdout
	held.ExtraFiles = []*os.File{g.r}
	return held
}

func (g *gate) open() {
	_ = g.r.Close()
	_ = g.w.Close()
}

// race runs all at once and is how each ended, in their order.
func (b *bench) race(all []*exec.Cmd) []end {
	b.t.Helper()
	g := newGate(b.t)
	ends := make([]end, len(all))
	var out, errs []*bytes.Buffer
	for i, c := range all {
		held := g.behind(c)
		out, errs = append(out, new(bytes.Buffer)), append(errs, new(bytes.Buffer))
		held.Stdout, held.Stderr = out[i], errs[i]
		if err := held.Start(); err != nil {
			b.t.Fatal(err)
		}
		all[i] = held
	}
	g.open()
	for i, c := range all {
		var exit *exec.ExitError
		if err := c.Wait(); err != nil && !errors.As(err, &exit) {
			b.t.Fatal(err)
		}
		ends[i] = end{status: c.ProcessState.ExitCode(), stdout: out[i].String(), stderr: errs[i].String()}
	}
	return ends
}

// siblings are the names in the directory that the spool is in.
func (b *bench) siblings() []string {
	b.t.Helper()
	entries, err := os.ReadDir(filepath.Dir(b.dir))
	if err != nil {
		b.t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}
