package e2e

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// marking is a handler that leaves a mark, and tells if it is not alone with
// its handoff. What it waits for has none of its locks.
const marking = `
exec 9>>"$MARKS/$XFER_HANDOFF_ID"
flock -n 9 || echo "$XFER_HANDOFF_ID" >>"$MARKS/overlap"
echo ran >&9
cat >/dev/null
sleep 0.03 3>&- 9>&-`

// Case 1: a handler is killed half-way, or asks for later: the handoff is still
// there and is offered again.
func TestHandlerIsKilled(t *testing.T) {
	b := newBench(t, "alice", "bob")
	id := b.id(b.send("alice", "-k", "notification", "-s", "s", "bob"), "body")
	for _, how := range []string{"kill -KILL $$", "exit 75"} {
		b.exits(75, b.recv("bob", "--drain", "--", "sh", "-c", how))
		b.wantOnly("cur", []string{id})
		b.exits(75, b.recv("bob", "--drain", "--", "touch", filepath.Join(b.marks(), "early")))
		b.due(id)
	}
	b.exits(0, b.recv("bob", "--drain", "--", "true"))
	b.wantOnly("done", []string{id})
	if len(b.marked("early")) > 0 {
		t.Error("it was tried again before its time")
	}
}

// due brings the time at which id is tried again.
func (b *bench) due(id string) {
	b.t.Helper()
	if err := os.Remove(filepath.Join(b.dir, "local", "run", id)); err != nil {
		b.t.Fatal(err)
	}
}

// The receiver is killed and its handler lives: nobody runs the handoff a second
// time until it has ended, and it is run again then.
func TestReceiverIsKilledAndHandlerLives(t *testing.T) {
	b := newBench(t, "alice", "bob")
	id := b.id(b.send("alice", "-k", "notification", "-s", "s", "bob"), "body")
	hold := filepath.Join(b.marks(), "hold")
	if err := syscall.Mkfifo(hold, 0o600); err != nil {
		t.Fatal(err)
	}
	first := b.start(b.recv("bob", "--", "sh", "-c", `echo "$$"; read -r _ <"$MARKS/hold"`))
	pid, err := strconv.Atoi(first.line())
	if err != nil {
		t.Fatal(err)
	}
	b.eventually("it in cur/", func() bool { return len(b.names("bob", "cur")) == 1 })
	first.signal(syscall.SIGKILL)
	first.wantEnd("killed")
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the handler has not outlived its receiver: %v", err)
	}
	b.exits(75, b.recv("bob", "--drain", "--", "touch", filepath.Join(b.marks(), "twice")))
	b.exits(75, b.inbox("bob", "take", id))
	next := b.start(b.recv("bob", "--", "echo", "again"))
	gate, err := os.OpenFile(hold, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = gate.Close()
	next.wantLine("again")
	b.eventually("it finished", func() bool { return len(b.names("bob", "done")) == 1 })
	next.signal(syscall.SIGTERM)
	next.wantEnd("terminated")
	if _, err := os.Stat(filepath.Join(b.marks(), "twice")); err == nil {
		t.Error("two handlers at once")
	}
}

// A receiver is killed a little later each time, from its first moment to
// beyond its last: each task ends in one place and is concluded once.
func TestKilledEverLater(t *testing.T) {
	b := newBench(t, "alice", "bob")
	const steps, step = 80, 500 * time.Microsecond
	var ids []string
	args := []string{"--conclude", "--retries", "1000", "--", "sh", "-c", marking + "; echo answer"}
	for i := range steps {
		ids = append(ids, b.id(b.send("alice", "-k", "task", "-s", "s", "bob"), "body"))
		s := b.start(b.recv("bob", append([]string{"--jobs", "2"}, args...)...))
		b.eventually("a receiver", func() bool { return s.watches() })
		<-time.After(time.Duration(i) * step) // the moment is what is tried
		s.signal(syscall.SIGKILL)
		s.wantEnd("killed")
	}
	last := b.start(b.recv("bob", args...))
	b.eventually("all finished", func() bool { return len(b.names("bob", "done")) == steps })
	last.signal(syscall.SIGTERM)
	last.wantEnd("terminated")
	b.wantOnly("done", ids)
	if got := len(b.names("alice", "new")); got != steps {
		t.Errorf("%d conclusions, want %d", got, steps)
	}
	b.wantMarks(ids)
}

// watches tells whether the receiver waits for events (proc(5), fdinfo).
func (s *service) watches() bool {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(s.Process.Pid) + "/fdinfo/*")
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "inotify wd:") {
			return true
		}
	}
	return false
}

// wantMarks wants each of ids handled, and never by two at once.
func (b *bench) wantMarks(ids []string) {
	b.t.Helper()
	if twice := b.marked("overlap"); len(twice) > 0 {
		b.t.Errorf("two handlers at once: %q", twice)
	}
	for _, id := range ids {
		if len(b.marked(id)) == 0 {
			b.t.Errorf("%s is finished and was never run", id)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, "local/docs/*")); len(left) > 0 {
		b.t.Errorf("left behind: %q", left)
	}
}

// Receivers and handlers are killed at random moments: each handoff ends in one
// place, its handler ran, and never twice at the same time.
func TestKilledAtRandomMoments(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	b := newBench(t, "alice", "bob")
	const n, rounds = 60, 25
	ids := b.notify(n)
	args := []string{"--jobs", "3", "--retries", "1000", "--", "sh", "-c", marking}
	for range rounds {
		s := b.start(b.recv("bob", args...))
		<-time.After(time.Duration(chance.Int64N(int64(150 * time.Millisecond)))) // the moment is what is tried
		which := chance.IntN(3)
		if which > 0 {
			kill(childrenOf(s.Process.Pid), chance)
		}
		if which < 2 {
			s.signal(syscall.SIGKILL)
		} else {
			s.signal(syscall.SIGTERM)
		}
		s.ends()
	}
	last := b.start(b.recv("bob", args...))
	b.eventually("all finished", func() bool { return len(b.names("bob", "done")) == n })
	last.signal(syscall.SIGTERM)
	last.wantEnd("terminated")
	b.wantOnly("done", ids)
	b.wantMarks(ids)
}

// kill kills one of pids, with its process group or alone.
func kill(pids []int, chance *rand.Rand) {
	if len(pids) == 0 {
		return
	}
	pid := pids[chance.IntN(len(pids))]
	if chance.IntN(2) == 0 {
		pid = -pid
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
}

// childrenOf are the processes whose parent is pid (proc(5), stat).
func childrenOf(pid int) (all []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		stat := string(data)
		fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			child, _, _ := strings.Cut(stat, " ")
			if n, err := strconv.Atoi(child); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}
