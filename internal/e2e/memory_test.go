package e2e

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	large = 32 << 20 // the default limit
	held  = 1 << 20  // more than a pipe holds: the process is still at it
)

// peak is the highest resident memory that a running process has had, in
// bytes. What wait4(2) says would not do: a child begins with its parent's.
func peak(t *testing.T, c *exec.Cmd) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(c.Process.Pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	kB, err := strconv.ParseInt(strings.TrimSpace(between(string(b), "VmHWM:", "kB")), 10, 64)
	if err != nil {
		t.Fatalf("%v in %q", err, b)
	}
	return kB << 10
}

func wantPeak(t *testing.T, what string, c *exec.Cmd, most int64) {
	t.Helper()
	got := peak(t, c)
	t.Logf("%s: %d MB", what, got>>20)
	if got > most {
		t.Errorf("%s: %d MB resident, want at most %d", what, got>>20, most>>20)
	}
}

// sendHeld sends body and looks at the sender before the last of it is given.
func sendHeld(b *bench, what, body string, most int64) {
	b.t.Helper()
	c := b.send("alice", "-k", "task", "-s", "s", "bob")
	in, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err == nil {
		_, err = io.WriteString(in, body[:len(body)-1])
	}
	if err != nil {
		b.t.Fatal(err)
	}
	wantPeak(b.t.(*testing.T), what, c, most)
	_, err = io.WriteString(in, body[len(body)-1:])
	_ = in.Close()
	if werr := c.Wait(); err != nil || werr != nil {
		b.t.Errorf("%v, %v", err, werr)
	}
}

// takeHeld runs c and looks at it when nearly all of its output was read.
func takeHeld(b *bench, c *exec.Cmd, size int64, most int64) {
	b.t.Helper()
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err == nil {
		_, err = io.CopyN(io.Discard, out, size-held)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	wantPeak(b.t.(*testing.T), strings.Join(c.Args[1:], " "), c, most)
	rest, err := io.Copy(io.Discard, out)
	if werr := c.Wait(); err != nil || werr != nil || rest < held {
		b.t.Errorf("%d bytes more, %v, %v", rest, err, werr)
	}
}

// Memory stays flat, whatever the size.
func TestMemory(t *testing.T) {
	b := newBench(t, "alice", "bob")
	for name, body := range map[string]string{
		"noise":          noise(large),
		"text":           strings.Repeat("a line with \"quotes\" and ümlauts\n", large/34)[:large-40],
		"one long line":  strings.Repeat("x", large),
		"control bytes":  strings.Repeat("\x01", large),
		"beyond the BMP": strings.Repeat("😀", large/4),
	} {
		sendHeld(b, "send, "+name, body, 40<<20)
		id := b.names("bob", "new")[0]
		size := int64(len(body))
		takeHeld(b, b.inbox("bob", "take", id), size, 40<<20)
		b.ok(b.inbox("bob", "release", id))
		takeHeld(b, b.inbox("bob", "take", "--json", id), size, 40<<20)
		takeHeld(b, b.inbox("bob", "show", id), size, 40<<20)
	}
}

// Headers made to be expensive are passed over at no cost, and what comes
// behind them comes.
func TestHostileHeaders(t *testing.T) {
	b := newBench(t, "alice", "bob")
	good := b.id(b.send("alice", "-k", "notification", "-s", "s", "bob"), "body")
	path := filepath.Join(b.dir, "peers/bob/new", good)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	in := func(extra string) []byte {
		return bytes.Replace(data, []byte("MIME-Version: 1.0\n"), []byte("MIME-Version: 1.0\n"+extra), 1)
	}
	hostile := [][]byte{
		in("X: " + strings.Repeat("x", 1<<20) + "\n"),
		in(strings.Repeat("X: y\n", 1_000_000)),
		in("To: bob@xfer\n"),
		bytes.Replace(data, []byte("\n\n"), []byte("\n"), 1),
		in("X: \x00\n"),
		in("X: \xff\n"),
		in("X: y\n" + strings.Repeat(" z\n", 300_000)),
		bytes.Repeat([]byte("\n"), 1<<20),
		make([]byte, 64<<20),
	}
	for i, h := range hostile {
		// Ids of the same time as the good one's, and before it.
		name := good[:10] + strings.Repeat("0", 15) + strconv.Itoa(i)
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), h, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	body := noise(4 << 20)
	last := b.id(b.send("alice", "-k", "notification", "-s", "s", "bob"), body)
	if list := b.ok(b.inbox("bob", "list")); strings.Count(list, "\n") != 1 || !strings.HasPrefix(list, last) {
		t.Errorf("listed: %q", list)
	}
	takeHeld(b, b.inbox("bob", "take"), 4<<20, 64<<20)
	for _, name := range b.names("bob", "done") {
		if name != last {
			t.Errorf("%s was taken", name)
		}
	}
}
