package e2e

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// stop halts a process and returns when it stands still.
func stop(t *testing.T, c *exec.Cmd) {
	t.Helper()
	pid := c.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var ws syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &ws, syscall.WUNTRACED, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || !ws.Stopped() {
			t.Fatalf("it did not stop: %v, %v", ws, err)
		}
		return
	}
}

func kill9(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
}

// A conclusion belongs to whoever waits for it, as long as that one lives.
func TestWaiterIsKilled(t *testing.T) {
	b := newBench(t, "alice", "bob")
	waiter := with(b.send("alice", "-k", "task", "-s", "s", "--await", "1h", "bob"), "task")
	stderr, err := waiter.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := waiter.Start(); err != nil {
		t.Fatal(err)
	}
	told, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	stop(t, waiter)
	id := b.names("bob", "new")[0]
	if !strings.Contains(told, id) {
		t.Errorf("before it waits it says %q, want %s in it", told, id)
	}
	conclusion := b.id(with(b.inbox("bob", "conclude", id, "done"), ""), "result")
	b.exits(1, b.inbox("alice", "take"))
	b.exits(75, b.inbox("alice", "take", conclusion))
	kill9(t, waiter)
	if got := b.ok(b.inbox("alice", "take")); got != "result" {
		t.Errorf("after the waiter died: %q", got)
	}
}

// A waiter that lives hands the conclusion out, and exits as it says.
func TestAwait(t *testing.T) {
	b := newBench(t, "alice", "bob")
	for ending, status := range map[string]int{"done": 0, "blocked": 80, "needs-input": 81} {
		waiter := with(b.send("alice", "-k", "task", "-s", "s", "--await", "1m", "bob"), "task")
		done := make(chan end)
		go func() { done <- b.run(waiter) }()
		if got := b.ok(b.inbox("bob", "take", "--wait", "1m")); got != "task" {
			t.Errorf("taken: %q", got)
		}
		id := b.names("bob", "work")[0]
		b.exits(0, with(b.inbox("bob", "conclude", id, ending), "result\n"))
		if e := <-done; e.status != status || e.stdout != "result\n" {
			t.Errorf("%s: %v", ending, e)
		}
		b.exits(1, b.inbox("alice", "take"))
	}
}

// Whoever is handing a handoff out has it locked; with the process goes the
// lock.
func TestTakerIsKilled(t *testing.T) {
	b := newBench(t, "bob")
	body := strings.Repeat("0123456789abcdef", 64<<10)
	id := b.id(b.send("alice", "-k", "task", "-s", "s", "bob"), body)
	for range 3 {
		taker := b.inbox("bob", "take")
		out, err := taker.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := taker.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		b.exits(1, b.inbox("bob", "take"))
		b.exits(75, b.inbox("bob", "take", id))
		if list := b.ok(b.inbox("bob", "list")); !strings.HasPrefix(list, id) {
			t.Errorf("listed meanwhile: %q", list)
		}
		kill9(t, taker)
	}
	if got := b.ok(b.inbox("bob", "take")); got != body {
		t.Errorf("%d bytes of %d", len(got), len(body))
	}
}

// A task that somebody holds is concluded all the same.
func TestConcludeWhileItIsHeld(t *testing.T) {
	b := newBench(t, "alice", "bob")
	id := b.id(b.send("alice", "-k", "task", "-s", "s", "bob"), "body")
	f, err := os.OpenFile(b.dir+"/peers/bob/new/"+id, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	e := b.exits(0, with(b.inbox("bob", "conclude", id, "done"), "result"))
	if !strings.Contains(e.stderr, "held by another process") {
		t.Error(e)
	}
	if got := b.ok(b.inbox("alice", "take")); got != "result" {
		t.Errorf("concluded with %q", got)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b.exits(1, b.inbox("bob", "take"))
	if names := b.names("bob", "done"); len(names) != 1 {
		t.Errorf("in done/: %q", names)
	}
}
