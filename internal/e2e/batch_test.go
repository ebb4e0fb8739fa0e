package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A batch is a running xfer-send --batch.
type batch struct {
	*exec.Cmd
	b   *bench
	in  io.WriteCloser
	out *bufio.Reader
}

func (b *bench) batch(args ...string) *batch {
	b.t.Helper()
	c := &batch{Cmd: b.send("alice", append([]string{"--batch"}, args...)...), b: b}
	c.Stderr = os.Stderr
	var err error
	if c.in, err = c.StdinPipe(); err != nil {
		b.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	// Whoever waits for what does not come fails.
	late := time.AfterFunc(5*time.Minute, func() { _ = c.Process.Kill() })
	b.t.Cleanup(func() { late.Stop(); _ = c.Process.Kill() })
	return c
}

func batchLine(i int) string {
	return fmt.Sprintf(`{"to":"bob","kind":"notification","body":"number %d","key":"%d"}`+"\n", i, i)
}

// outcome reads one and wants it to be that of a handoff which is queued.
func (c *batch) outcome() (id string) {
	c.b.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.b.t.Fatalf("%q, %v", line, err)
	}
	return c.b.queued(line)
}

func (b *bench) queued(line string) string {
	b.t.Helper()
	var o struct{ ID, Outcome string }
	if err := json.Unmarshal([]byte(line), &o); err != nil || o.Outcome != "queued" {
		b.t.Fatalf("%q, %v", line, err)
	}
	return o.ID
}

// Whoever waits for an outcome before the next line gets it.
func TestBatchAnswersAsItGoes(t *testing.T) {
	b := newBench(t, "bob")
	c := b.batch()
	var told []string
	for i := range 3 {
		if _, err := io.WriteString(c.in, batchLine(i)); err != nil {
			t.Fatal(err)
		}
		told = append(told, c.outcome())
		if there := b.names("bob", "new"); !slices.Equal(there, told) {
			t.Fatalf("told %q, and new/ has %q", told, there)
		}
	}
	// A line that is begun is waited for, and what stands before it is not.
	for _, some := range []string{batchLine(3) + batchLine(4)[:20], batchLine(4)[20:]} {
		if _, err := io.WriteString(c.in, some); err != nil {
			t.Fatal(err)
		}
		c.outcome()
	}
	_ = c.in.Close()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// What was told is there and nothing else; the same input again completes it.
func TestBatchInterrupted(t *testing.T) {
	const many = 2000
	var input strings.Builder
	for i := range many {
		input.WriteString(batchLine(i))
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		b := newBench(t, "bob")
		c := b.batch()
		go func() { _, _ = io.WriteString(c.in, input.String()[:input.Len()-10]) }()
		told := []string{c.outcome()}
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(c.out)
		if err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(string(rest)) {
			told = append(told, b.queued(line))
		}
		_ = c.Wait()
		if ended := c.ProcessState.Sys().(syscall.WaitStatus); ended.Signal() != sig {
			t.Errorf("%v: it ended with %v", sig, c.ProcessState)
		}
		there := b.names("bob", "new")
		for _, id := range told {
			if !slices.Contains(there, id) {
				t.Errorf("%v: %s was told, and is not in new/", sig, id)
			}
		}
		if sig != syscall.SIGKILL && (len(there) != len(told) || len(b.names("bob", "tmp")) > 0) {
			t.Errorf("%v: told %d, new/ has %d, tmp/ %d", sig, len(told), len(there), len(b.names("bob", "tmp")))
		}
		b.ok(with(b.send("alice", "--batch"), input.String()))
		if n := len(b.names("bob", "new")); n != many {
			t.Errorf("%v: %d are queued after the second run, want %d", sig, n, many)
		}
	}
}

// Whoever waits for an outcome that cannot be told is not left waiting.
func TestBatchCannotAnswer(t *testing.T) {
	b := newBench(t, "bob")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	send := b.send("alice", "--batch")
	in, err := send.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	send.Stdout = full
	if err := send.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(5*time.Minute, func() { _ = send.Process.Kill() })
	defer late.Stop()
	if _, err := io.WriteString(in, batchLine(0)); err != nil {
		t.Fatal(err)
	}
	_ = send.Wait()
	if status := send.ProcessState.ExitCode(); status != 74 {
		t.Errorf("it ended with %v, want 74", send.ProcessState)
	}
}

// A line can answer any that stands before it.
func TestBatchConversation(t *testing.T) {
	b := newBench(t, "bob")
	const many = 600 // of three groups
	id := func(i int) string { return fmt.Sprintf("01m8njh8j8%016d", i) }
	var input strings.Builder
	for i := range many {
		fmt.Fprintf(&input, `{"to":"bob","kind":"notification","body":"number %d","id":"%s"`, i, id(i))
		if before := min(i, 1+i%300); i > 0 && i%7 == 0 {
			fmt.Fprintf(&input, `,"in_reply_to":"%s"`, id(i-before))
		}
		input.WriteString("}\n")
	}
	for range 2 { // a replay says the same
		told := 0
		for line := range strings.Lines(b.ok(with(b.send("alice", "--batch"), input.String()))) {
			if got := b.queued(line); got != id(told) {
				t.Fatalf("outcome %d is of %s", told, got)
			}
			told++
		}
		if told != many {
			t.Errorf("%d outcomes, want %d", told, many)
		}
	}
}

// Memory stays flat, whatever the number of lines.
func TestBatchMemory(t *testing.T) {
	const many = 100_000
	b := newBench(t, "bob")
	c := b.batch("--no-sync")
	wrote := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(c.in)
		for i := range many {
			_, _ = fmt.Fprintf(w, `{"to":"bob","kind":"notification","body":"number %d"}`+"\n", i)
		}
		wrote <- w.Flush()
	}()
	for range many {
		c.outcome()
	}
	wantPeak(t, "send --batch", c.Cmd, 32<<20)
	_ = c.in.Close()
	if err := c.Wait(); err != nil || <-wrote != nil {
		t.Error(err)
	}
}

// A batch takes no more files than it may have.
func TestBatchWithFewFiles(t *testing.T) {
	b := newBench(t, "bob")
	var input strings.Builder
	const many = 1000
	for i := range many {
		input.WriteString(batchLine(i))
	}
	send := b.send("alice", "--batch")
	few := exec.Command("sh", append([]string{"-c", `ulimit -n 60; exec "$0" "$@"`}, send.Args...)...)
	few.Env, few.Stdin, few.Stderr = send.Env, strings.NewReader(input.String()), os.Stderr
	if out, err := few.Output(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if n := len(b.names("bob", "new")); n != many {
		t.Errorf("%d are queued, want %d", n, many)
	}
}
