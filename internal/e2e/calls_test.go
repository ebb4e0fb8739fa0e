package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// traced runs c, wants its status, and is the file-system calls it made, a line
// each.
func (b *bench) traced(status int, c *exec.Cmd) string {
	b.t.Helper()
	log := filepath.Join(b.t.TempDir(), "calls")
	s := exec.Command("strace", append([]string{"-f", "-qq", "-o", log, "-e", "trace=%file,%desc", c.Path}, c.Args[1:]...)...)
	s.Env, s.Stdin = c.Env, c.Stdin
	b.exits(status, s)
	data, err := os.ReadFile(log)
	if err != nil {
		b.t.Fatal(err)
	}
	return joined(string(data))
}

// joined is strace's log with each call in one line, also where a call of
// another thread came in between.
func joined(log string) string {
	const unfinished, resumed = "<unfinished ...>\n", " resumed>"
	var b strings.Builder
	begun := make(map[string]string)
	for line := range strings.Lines(log) {
		thread, call, _ := strings.Cut(line, " ")
		if head, cut := strings.CutSuffix(line, unfinished); cut {
			begun[thread] = strings.TrimRight(head, " ")
			continue
		}
		if _, rest, cut := strings.Cut(call, resumed); cut && strings.HasPrefix(strings.TrimLeft(call, " "), "<... ") {
			line = begun[thread] + rest
		}
		b.WriteString(line)
	}
	return b.String()
}

// Whether anybody receives for the peer is looked up for who is told it, and
// by no more than a few calls; how much is queued, for --json alone.
func TestCallsOfAVerdict(t *testing.T) {
	b := newBench(t, "bob")
	b.notify(300)
	send := func(flags ...string) string {
		return b.traced(0, with(b.send("alice", append(flags, "-k", "notification", "bob")...), "body"))
	}
	send("-q") // makes the registry's directories and the log, or some of them
	quiet, told, counted := send("-q"), send(), send("--json")
	if n := strings.Count(quiet, "/bob/live") + strings.Count(quiet, "/lock/peer.bob"); n > 0 {
		t.Errorf("with -q %d calls look for a receiver", n)
	}
	if n := strings.Count(told, "/bob/live") + strings.Count(told, "/lock/peer.bob"); n == 0 || n > 12 {
		t.Errorf("%d calls look for a receiver", n)
	}
	for name, calls := range map[string]string{"-q": quiet, "nothing": told} {
		if n := entriesRead(calls, "/bob/new"); n > 0 {
			t.Errorf("with %s new/ is read: %d calls", name, n)
		}
	}
	if entriesRead(counted, "/bob/new") == 0 {
		t.Error("with --json new/ is not read: what is counted?")
	}
}

// A short program neither sets a timer nor polls: Go's poller brings a thread
// with it, and costs a send an eighth of its time.
func TestNoPollerInShortPrograms(t *testing.T) {
	b := newBench(t, "bob")
	b.notify(1)
	b.ok(b.inbox("bob", "-q", "take")) // claims the mailbox
	for name, c := range map[string]*exec.Cmd{
		"send": with(b.send("alice", "-q", "-k", "notification", "bob"), "body"),
		"take": b.inbox("bob", "take"),
		"list": b.inbox("bob", "list"),
	} {
		b.notify(1)
		if strings.Contains(b.traced(0, c), "epoll_create") {
			t.Errorf("%s makes a poller", name)
		}
	}
}

// entriesRead is how often names were read from a directory whose path ends
// so.
func entriesRead(calls, dir string) (n int) {
	file := ""
	for line := range strings.Lines(calls) {
		if strings.Contains(line, dir+`"`) && strings.Contains(line, "openat(") {
			file = strings.TrimSpace(line[strings.LastIndexByte(line, '=')+1:])
		}
		if file != "" && strings.Contains(line, "getdents64("+file+",") {
			n++
		}
		if file != "" && strings.Contains(line, "close("+file+")") {
			file = ""
		}
	}
	return n
}

// A limit is held by counting no further than it goes, however much is queued.
func TestCallsOfALimit(t *testing.T) {
	b := newBench(t, "bob")
	b.notify(3000)
	b.ok(b.inbox("bob", "-q", "policy", "--max-queued", "10"))
	calls := b.traced(75, with(b.send("alice", "-q", "-k", "notification", "bob"), "body"))
	if n := entriesRead(calls, "/bob/new"); n != 1 {
		t.Errorf("names are read by %d calls", n)
	}
}
