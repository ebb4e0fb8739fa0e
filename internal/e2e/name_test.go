package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Of two receivers that start at once one holds the name, and the other says
// who has it.
func TestTwoReceiversAtOnce(t *testing.T) {
	b := newBench(t)
	var all []*service
	g := newGate(t)
	for i := range 10 {
		name := fmt.Sprint("bob", i)
		b.ok(b.inbox(name, "create")) // else one of the two says that it made it
		for range 2 {
			all = append(all, b.start(g.behind(b.recv(name, "--beat", "0"))))
		}
	}
	g.open()
	for i := 0; i < len(all); i += 2 {
		lost, won := all[i], all[i+1]
		b.eventually("one of two gives up", func() bool {
			switch {
			case strings.Contains(lost.stderr.String(), "holds the name"):
				return true
			case strings.Contains(won.stderr.String(), "holds the name"):
				lost, won = won, lost
				return true
			}
			return false
		})
		lost.wantEnd("75")
		want := fmt.Sprintf("xfer-recv: receive as %q: a receiver here holds the name (process %d)\n", fmt.Sprint("bob", i/2), won.Process.Pid)
		if got := lost.stderr.String(); !strings.HasSuffix(got, want) { // what it made it has said before
			t.Errorf("said %q, want %q", got, want)
		}
		won.signal(syscall.SIGTERM)
		won.wantEnd("terminated")
	}
}

// The kernel frees a name when its holder dies: the next one starts at once.
func TestHolderIsKilled(t *testing.T) {
	b := newBench(t, "bob")
	least := within
	for range 5 {
		holder := b.start(b.recv("bob", "--beat", "0"))
		b.eventually("it holds the name", func() bool { return strings.Contains(b.ok(b.inbox("bob", "peers", "--json", "bob")), `"state":"idle"`) })
		holder.signal(syscall.SIGKILL)
		holder.wantEnd("killed")
		id := b.id(b.send("alice", "-q", "-k", "notification", "bob"), "body")
		if got := b.verdict("bob"); got != "crashed" {
			t.Errorf("the verdict on a killed one is %s", got)
		}
		began := time.Now()
		next := b.start(b.recv("bob", "--once"))
		if line := next.line(); !strings.HasPrefix(line, id+"\t") {
			t.Errorf("announced %q, want %s", line, id)
		}
		least = min(least, time.Since(began))
		next.wantEnd("0")
		b.ok(b.inbox("bob", "-q", "take"))
	}
	if least > time.Second {
		t.Errorf("the next one needed %s", least)
	}
}

func (b *bench) verdict(peer string) string {
	b.t.Helper()
	return between(b.ok(b.inbox("alice", "peers", "--json", peer)), `"verdict":"`, `"`)
}

// A receiver whose mailbox another host took over stops by itself, and what
// its handler did is not committed.
func TestTakeoverStopsTheOldReceiver(t *testing.T) {
	b := newBench(t, "bob")
	id := b.id(b.send("alice", "-q", "-k", "notification", "bob"), "body")
	gate := filepath.Join(b.marks(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	old := b.start(b.recv("bob", "--", "sh", "-c", `echo started; read -r go <"$MARKS/gate"`))
	old.wantLine("started")

	// What a sync tool brings: the other host's claim.
	far := &bench{t, filepath.Join(t.TempDir(), "spool")}
	if out, err := exec.Command("cp", "-a", b.dir, far.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.RemoveAll(filepath.Join(far.dir, "local")); err != nil {
		t.Fatal(err)
	}
	refused := far.recv("bob", "--drain")
	refused.Env = append(refused.Env, "XFER_HOST=there-00000002")
	far.exits(77, refused)
	taking := far.recv("bob", "--drain", "--takeover")
	taking.Env = append(taking.Env, "XFER_HOST=there-00000002")
	far.ok(taking)
	const claim = "peers/bob/live/there-00000002.json"
	data, err := os.ReadFile(filepath.Join(far.dir, claim))
	if err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(filepath.Dir(b.dir), "claim")
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, filepath.Join(b.dir, claim)); err != nil {
		t.Fatal(err)
	}

	// The handler ends well, and nothing is made of it here any more.
	open, err := os.OpenFile(gate, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }()
	if _, err := open.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	old.wantEnd("75")
	if said := old.stderr.String(); !strings.Contains(said, `host "there-00000002" has taken the mailbox over`) {
		t.Errorf("said %q", said)
	}
	b.wantOnly("cur", []string{id})
	b.exits(77, b.inbox("bob", "take"))
}

// Fifty callers of one name wait for fifty tasks while a receiver holds that
// name: each gets its own conclusion, and the receiver none.
func TestManyAwaitAsOneName(t *testing.T) {
	b := newBench(t, "worker", "alice")
	worker := b.start(b.recv("worker", "-q", "--conclude", "--jobs", "4", "--", "cat"))
	receiver := b.start(b.recv("alice", "-q"))
	b.eventually("the receiver holds the name", func() bool { return b.verdict("alice") == "running" })
	var all []*exec.Cmd
	for i := range 50 {
		all = append(all, with(b.send("alice", "-q", "-k", "task", "--await", "2m", "worker"), fmt.Sprint("body ", i)))
	}
	for i, e := range b.race(all) {
		if e.status != 0 || e.stdout != fmt.Sprint("body ", i) {
			t.Errorf("caller %d: %v", i, e)
		}
	}
	// What is announced comes after whatever was announced before.
	id := b.id(b.send("worker", "-q", "-k", "notification", "alice"), "the last")
	if line := receiver.line(); !strings.HasPrefix(line, id+"\t") {
		t.Errorf("the receiver has %q", line)
	}
	for _, s := range []*service{receiver, worker} {
		s.signal(syscall.SIGTERM)
		s.wantEnd("terminated")
	}
	if n := len(b.names("alice", "done")); n != 50 {
		t.Errorf("done/ has %d conclusions", n)
	}
	if entries, err := os.ReadDir(filepath.Join(b.dir, "local", "await")); err != nil || len(entries) > 0 {
		t.Errorf("the waiters left %v, %v", entries, err)
	}
}
