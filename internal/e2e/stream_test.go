package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A body that is not there, or cannot be read, changes nothing.
func TestNoBodyNoChange(t *testing.T) {
	b := newBench(t, "alice", "bob", "carol")
	id := b.id(b.send("alice", "-k", "task", "-s", "s", "bob"), "task")
	b.exits(1, b.inbox("bob", "take", "--from", "nobody")) // claims the mailbox
	before := b.tree()
	for _, c := range []struct {
		status int
		cmd    *exec.Cmd
	}{
		{66, b.send("alice", "-k", "notification", "bob", "-f", "/nonexistent/file")},
		{66, b.send("alice", "-k", "task", "bob", "carol", "-f", "no such file")},
		{66, b.send("alice", "-k", "notification", "bob", "-f", t.TempDir())},
		{66, b.send("dave", "-k", "task", "bob", "-f", "no such file")},
		// A file whose first read fails (proc_pid_mem(5)), before and after the
		// deliveries are open.
		{74, b.send("alice", "-k", "task", "bob", "carol", "-f", "/proc/self/mem")},
		{74, b.send("dave", "-k", "task", "-s", "s", "--type", "text/plain", "bob", "carol", "-f", "/proc/self/mem")},
		{66, b.inbox("bob", "conclude", id, "done", "-f", "no such file")},
		{74, b.inbox("bob", "conclude", id, "done", "-f", "/proc/self/mem")},
	} {
		e := b.exits(c.status, c.cmd)
		if e.stdout != "" {
			t.Errorf("%q: it says %q", c.cmd.Args[1:], e.stdout)
		}
		if b.tree() != before {
			t.Errorf("%q: the spool is not as it was", c.cmd.Args[1:])
			before = b.tree()
		}
	}
}

// fill puts n handoffs with body into bob's mailbox, by one shell.
func fill(b *bench, n int, body string) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "body")
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		b.t.Fatal(err)
	}
	send := b.send("alice", "-k", "notification", "--no-sync", "-q", "-s", strings.Repeat("subject ", 80), "bob", "-f", path)
	loop := exec.Command("/bin/sh", append([]string{"-ec", fmt.Sprintf(`i=0; while [ $i -lt %d ]; do "$@"; i=$((i+1)); done`, n), "sh", send.Path}, send.Args[1:]...)...)
	loop.Env = send.Env
	b.ok(loop)
}

// closedAfterALine runs c and closes its output once a line was read.
func closedAfterALine(t *testing.T, c *exec.Cmd) syscall.WaitStatus {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Error(err)
	}
	_ = out.Close()
	_ = c.Wait()
	return c.ProcessState.Sys().(syscall.WaitStatus)
}

// Nothing is taken that was not written out whole.
func TestOutputIsClosed(t *testing.T) {
	b := newBench(t, "bob")
	fill(b, 90, strings.Repeat("x", 100_000))
	if ws := closedAfterALine(t, b.inbox("bob", "list", "--json")); !ws.Signaled() || ws.Signal() != syscall.SIGPIPE {
		t.Errorf("list ends with %v, want SIGPIPE", ws)
	}
	if n := len(b.names("bob", "new")); n != 90 {
		t.Errorf("after list %d are in new/", n)
	}
	if ws := closedAfterALine(t, b.inbox("bob", "take", "--all", "--json")); !ws.Signaled() || ws.Signal() != syscall.SIGPIPE {
		t.Errorf("take ends with %v, want SIGPIPE", ws)
	}
	// Ten share a write, and the pipe has no room for all of it.
	if names := b.names("bob", "done"); len(names) != 0 {
		t.Errorf("taken, and not written out: %q", names)
	}
	if n := len(b.names("bob", "new")); n != 90 {
		t.Errorf("after take %d are in new/", n)
	}
	if n := strings.Count(b.ok(b.inbox("bob", "list")), "\n"); n != 90 {
		t.Errorf("%d are listed", n)
	}
}

func TestOutputIsFull(t *testing.T) {
	b := newBench(t, "alice", "bob")
	id := b.id(b.send("alice", "-k", "task", "-s", "s", "bob"), "task")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range [][]string{
		{"list"}, {"list", "--json"}, {"take"}, {"take", "--json"}, {"take", "--quote"}, {"take", id}, {"take", "--all", "--json"},
		{"show", id}, {"show", "--body", id}, {"status"}, {"status", id},
	} {
		c := b.inbox("bob", args...)
		c.Stdout = full
		b.exits(74, c)
		if names := b.names("bob", "new"); len(names) != 1 {
			t.Fatalf("after %q new/ holds %q", args, names)
		}
	}
	c := with(b.send("alice", "-k", "notification", "bob"), "x")
	c.Stdout = full
	b.exits(74, c)
}
