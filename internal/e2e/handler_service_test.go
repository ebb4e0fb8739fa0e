package e2e

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// SIGTERM: handlers get TERM, and what they do not finish is offered again by
// the next receiver, at once and uncounted.
func TestStopHandsBack(t *testing.T) {
	b := newBench(t, "alice", "bob")
	id := b.id(b.send("alice", "-k", "notification", "-s", "s", "bob"), "body")
	s := b.start(b.recv("bob", "--retries", "0", "--", "sh", "-c", `trap 'echo told; exit 1' TERM; echo works; while :; do sleep 0.01; done`))
	s.wantLine("works")
	s.signal(syscall.SIGTERM)
	s.wantLine("told")
	s.wantEnd("terminated")
	b.wantOnly("cur", []string{id})
	b.exits(0, b.recv("bob", "--drain", "--retries", "0", "--", "true"))
	b.wantOnly("done", []string{id})
}

// What finishes within the grace is finished.
func TestStopLetsFinish(t *testing.T) {
	b := newBench(t, "alice", "bob")
	id := b.id(b.send("alice", "-k", "task", "-s", "s", "bob"), "body")
	s := b.start(b.recv("bob", "--conclude", "--", "sh", "-c", `trap 'echo the end; exit 0' TERM; echo works >&2; while :; do sleep 0.01; done`))
	b.eventually("the handler works", func() bool { return strings.Contains(s.stderr.String(), "works") })
	s.signal(syscall.SIGTERM)
	s.wantEnd("terminated")
	b.wantOnly("done", []string{id})
	if got := b.ok(b.inbox("alice", "await", "-q", id)); got != "the end\n" {
		t.Errorf("concluded with %q", got)
	}
}

// One that ignores TERM gets KILL after the grace. timeout(1) and a terminal's
// shell send the signal more than once: it counts once.
func TestStopKillsAfterGrace(t *testing.T) {
	b := newBench(t, "alice", "bob")
	id := b.id(b.send("alice", "-k", "notification", "-s", "s", "bob"), "body")
	s := b.start(b.recv("bob", "--grace", "500ms", "--", "sh", "-c", `trap 'echo told' TERM; echo works; while :; do sleep 0.01; done`))
	s.wantLine("works")
	s.signal(syscall.SIGTERM)
	s.wantLine("told")
	s.signal(syscall.SIGTERM)
	s.wantEnd("terminated")
	b.wantOnly("cur", []string{id})
	if says := b.ok(b.inbox("alice", "peers")); !strings.Contains(says, "bob\tsleeping") {
		t.Errorf("peers: %q", says)
	}
}

// With --once and --drain too, while only a handler is waited for.
func TestStopWhileTheLastHandlerRuns(t *testing.T) {
	for _, flag := range []string{"--once", "--drain"} {
		b := newBench(t, "alice", "bob")
		id := b.id(b.send("alice", "-k", "notification", "-s", "s", "bob"), "body")
		s := b.start(b.recv("bob", flag, "--", "sh", "-c", `echo works; exec sleep 300`))
		s.wantLine("works")
		b.eventually("it in cur/", func() bool { return len(b.names("bob", "cur")) == 1 })
		s.signal(syscall.SIGTERM)
		s.wantEnd("terminated")
		b.wantOnly("cur", []string{id})
	}
}

// systemd is told when the receiver is ready, what it does, and that it stops;
// its handlers are no services.
func TestServiceManagerIsTold(t *testing.T) {
	b := newBench(t, "alice", "bob")
	path := filepath.Join(b.marks(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	c := b.recv("bob", "--as", "bob", "--as", "carol", "--", "sh", "-c", `echo "in ${NOTIFY_SOCKET-no service}"`)
	c.Env = append(c.Env, "NOTIFY_SOCKET="+path)
	s := b.start(c)
	b.wantTold(socket, "READY=1\nSTATUS=receiving as bob, carol")
	b.notify(1)
	s.wantLine("in no service")
	b.wantTold(socket, "STATUS=receiving as bob, carol; ")
	s.signal(syscall.SIGTERM)
	b.wantTold(socket, "STOPPING=1")
	s.wantEnd("terminated")
}

// wantTold reads what the service says until it says what begins so.
func (b *bench) wantTold(socket *net.UnixConn, want string) {
	b.t.Helper()
	if err := socket.SetReadDeadline(time.Now().Add(within)); err != nil {
		b.t.Fatal(err)
	}
	buf := make([]byte, 1000)
	for {
		n, err := socket.Read(buf)
		if err != nil {
			b.t.Fatalf("waiting for %q: %v", want, err)
		}
		if strings.HasPrefix(string(buf[:n]), want) {
			return
		}
	}
}

// SIGHUP has the receiver look again, where nothing told it.
func TestHangupLooksAgain(t *testing.T) {
	b := newBench(t, "alice", "bob")
	s := b.start(b.recv("bob", "--poll", "1h", "--", "sh", "-c", `echo "$XFER_HANDOFF_ID"`))
	first := b.notify(1)
	s.wantLine(first[0])
	b.eventually("it finished", func() bool { return len(b.names("bob", "done")) == 1 })
	// A directory that was replaced is silent.
	place := filepath.Join(b.dir, "peers/bob/new")
	if err := os.Rename(place, place+".away"); err != nil {
		t.Fatal(err)
	}
	second := b.notify(1)
	s.signal(syscall.SIGHUP)
	s.wantLine(second[0])
	s.signal(syscall.SIGTERM)
	s.wantEnd("terminated")
}

// Who looks sees what a receiver does.
func TestRunningIsShown(t *testing.T) {
	b := newBench(t, "alice", "bob")
	id := b.id(b.send("alice", "-k", "notification", "-s", "s", "bob"), "body")
	if err := syscall.Mkfifo(filepath.Join(b.marks(), "hold"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := b.start(b.recv("bob", "--", "sh", "-c", `echo works; read -r _ <"$MARKS/hold"`))
	s.wantLine("works")
	live := func() string {
		data, err := os.ReadFile(filepath.Join(b.dir, "peers/bob/live/here.json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	b.eventually("busy", func() bool { return strings.Contains(live(), `"busy"`) && strings.Contains(live(), id) })
	gate, err := os.OpenFile(filepath.Join(b.marks(), "hold"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = gate.Close()
	b.eventually("idle", func() bool { return strings.Contains(live(), `"idle"`) && !strings.Contains(live(), id) })
	s.signal(syscall.SIGTERM)
	s.wantEnd("terminated")
}

// What is to be tried again is, when its time has come, without a rescan.
func TestRetryInTime(t *testing.T) {
	b := newBench(t, "alice", "bob")
	b.id(b.send("alice", "-k", "notification", "-s", "s", "bob"), "body")
	s := b.start(b.recv("bob", "--poll", "1h", "--", "sh", "-c", `mkdir "$MARKS/first" && echo failed && exit 1; echo done`))
	s.wantLine("failed")
	s.wantLine("done")
	b.eventually("it finished", func() bool { return len(b.names("bob", "done")) == 1 })
	s.signal(syscall.SIGTERM)
	s.wantEnd("terminated")
}

// A receiver with much to do sees a hold, and does not starve its other names.
func TestMuchToDo(t *testing.T) {
	b := newBench(t, "alice", "bob", "zoe")
	b.notify(2000)
	last := b.id(b.send("alice", "-k", "notification", "-s", "s", "zoe"), "body")
	s := b.start(b.recv("bob", "--as", "bob", "--as", "zoe", "--", "sh", "-c", `[ "$XFER_NAME" = bob ] || echo "$XFER_HANDOFF_ID"; exec sleep 0.02`))
	s.wantLine(last)
	b.ok(b.inbox("bob", "hold"))
	b.eventually("nothing that runs", func() bool { return len(b.names("bob", "cur")) == 0 && idle(b, "bob") })
	if left := len(b.names("bob", "new")); left == 0 {
		t.Error("all of it was handled before the hold and the other name were seen")
	}
	s.signal(syscall.SIGTERM)
	s.wantEnd("terminated")
}

func idle(b *bench, peer string) bool {
	data, err := os.ReadFile(filepath.Join(b.dir, "peers", peer, "live/here.json"))
	return err == nil && strings.Contains(string(data), `"idle"`)
}
