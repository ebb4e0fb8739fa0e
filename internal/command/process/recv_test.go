package process_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"xfer/spool"
)

func TestReceiverDiesOfTheSignal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		w := newWorld(t, "bob")
		p := w.receiver()
		sent := w.send(1)
		want(t, "announced", p.id(), sent)
		p.signal(sig)
		p.wantEnd(sig.String(), "")
		want(t, "state", w.state("bob"), spool.Stopped)
	}
}

func TestStoppedReceiverCatchesUp(t *testing.T) {
	w := newWorld(t, "bob")
	const n = 20000
	p := w.receiver()
	p.signal(syscall.SIGSTOP)
	w.send(n)
	p.signal(syscall.SIGCONT)
	seen := map[spool.ID]bool{}
	for range n {
		seen[p.id()] = true
	}
	want(t, "ids announced", len(seen), n)
	eventually(t, "all of it in cur/", func() bool { return len(w.names(spool.Cur)) == n })
	p.signal(syscall.SIGTERM)
	p.wantEnd("terminated", "")
	want(t, "lines more than handoffs", len(p.lines), 0)
}

// Each handoff costs the same, however many there are: where cur/ was read for
// each, four times as many cost eleven times as much.
func TestDrainCostsTheSamePerHandoff(t *testing.T) {
	perHandoff := func(n int) time.Duration {
		w := newWorld(t, "bob")
		w.send(n)
		p := w.start("xfer-recv", "--drain")
		p.wantEnd("0", "")
		want(t, "in cur/", len(w.names(spool.Cur)), n)
		return cost(p.ProcessState) / time.Duration(n)
	}
	few, many := perHandoff(5000), perHandoff(20000)
	if many > 2*few {
		t.Errorf("a handoff of 20,000 costs %s, of 5,000 %s", many, few)
	}
}

// cost is the processor time of a process that has ended.
func cost(s *os.ProcessState) time.Duration { return s.UserTime() + s.SystemTime() }

func TestReplacedDirectoryIsFound(t *testing.T) {
	w := newWorld(t, "bob")
	p := w.receiver("--poll", "300ms")
	want(t, "announced", w.send(1), p.id())
	eventually(t, "it in cur/", func() bool { return len(w.names(spool.New)) == 0 })
	w.must(os.Rename(w.place(spool.New), w.place(spool.New)+".away"))
	w.must(os.Mkdir(w.place(spool.New), 0o700))
	want(t, "announced", w.send(1), p.id())
	p.signal(syscall.SIGTERM)
	p.wantEnd("terminated", "")
}

// On a bindfs mount nothing tells of what is written underneath.
func TestMountWithoutEvents(t *testing.T) {
	for _, program := range []string{"bindfs", "fusermount3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: apt-get install bindfs fuse3", err)
		}
	}
	w := newWorld(t, "bob")
	mount := t.TempDir()
	out, err := exec.Command("bindfs", w.dir, mount).CombinedOutput()
	if err != nil {
		t.Fatalf("bindfs: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("fusermount3", "-u", mount).CombinedOutput(); err != nil {
			t.Errorf("unmount: %v\n%s", err, out)
		}
	})
	onMount := &world{t: t, dir: mount, s: w.s}
	p := onMount.receiver("--poll", "300ms")
	for range 3 {
		want(t, "announced", w.send(1), p.id())
	}
	p.signal(syscall.SIGTERM)
	p.wantEnd("terminated", "")
}

func TestWithoutInotify(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "bob")
	cmd := w.command("xfer-recv", "--poll", "300ms")
	cmd.Env = append(cmd.Env, blindVariable+"="+cmd.Path)
	cmd.Path = self
	p := started(t, cmd)
	for range 3 {
		want(t, "announced", w.send(1), p.id())
	}
	p.signal(syscall.SIGTERM)
	p.wantEnd("terminated", "xfer-recv: inotify has nothing left to give (too many open files): looking every 300ms instead\n")
}

// A receiver that is killed before its line is out, here because nobody reads
// it, leaves the handoff to the next one, which has the name at once.
func TestKilledBeforeItsLine(t *testing.T) {
	w := newWorld(t, "bob")
	r, pipe, err := os.Pipe()
	w.must(err)
	defer func() { _ = r.Close() }()
	fill(t, pipe)
	cmd := w.command("xfer-recv")
	cmd.Stdout = pipe
	w.must(cmd.Start())
	_ = pipe.Close()
	sent := w.send(1)
	path := w.place(spool.New) + "/" + string(sent)
	eventually(t, "the handoff locked", func() bool { return locked(t, path) })
	w.must(cmd.Process.Kill())
	_ = cmd.Wait()
	want(t, "state", w.state("bob"), spool.Idle) // it never said that it stopped

	killed := time.Now()
	p := w.start("xfer-recv", "--once")
	want(t, "announced", p.id(), sent)
	if took := time.Since(killed); took > time.Second {
		t.Errorf("the next receiver announced after %s", took)
	}
	p.wantEnd("0", "")
	want(t, "names in cur/", strings.Join(w.names(spool.Cur), " "), string(sent))
}

// fill leaves no room in a pipe.
func fill(t *testing.T, pipe *os.File) {
	t.Helper()
	fd := int(pipe.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := unix.Write(fd, make([]byte, 4096)); err == unix.EAGAIN {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
}

// locked tells whether somebody has the claim on the file at path.
func locked(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == unix.EWOULDBLOCK
}

func TestNothingMovesThatWasNotWritten(t *testing.T) {
	w := newWorld(t, "bob")
	w.send(5)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	w.must(err)
	defer func() { _ = full.Close() }()
	cmd := w.command("xfer-recv")
	cmd.Stdout = full
	out := &strings.Builder{}
	cmd.Stderr = out
	_ = cmd.Run()
	want(t, "status", cmd.ProcessState.ExitCode(), 74)
	want(t, "stderr", out.String(), "xfer-recv: write to standard output: no space left on device\n")
	want(t, "left in new/", len(w.names(spool.New)), 5)
	want(t, "state", w.state("bob"), spool.Stopped)
}

// A reader that goes away ends the receiver cleanly: what it had read is
// received, and nothing else.
func TestReaderGoesAway(t *testing.T) {
	w := newWorld(t, "bob")
	r, pipe, err := os.Pipe()
	w.must(err)
	cmd := w.command("xfer-recv")
	cmd.Stdout = pipe
	out := &strings.Builder{}
	cmd.Stderr = out
	w.must(cmd.Start())
	_ = pipe.Close()
	first := w.send(1)
	line := make([]byte, 200)
	n, err := r.Read(line)
	w.must(err)
	want(t, "announced", string(line[:26]), string(first))
	want(t, "lines", strings.Count(string(line[:n]), "\n"), 1)
	_ = r.Close()
	second := w.send(1)
	_ = cmd.Wait()
	want(t, "signal", cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(), syscall.SIGPIPE)
	want(t, "stderr", out.String(), "")
	want(t, "in cur/", strings.Join(w.names(spool.Cur), " "), string(first))
	want(t, "in new/", strings.Join(w.names(spool.New), " "), string(second))
	want(t, "state", w.state("bob"), spool.Stopped)
}

// Another host takes the mailbox over while a receiver waits here: it steps
// down, and what comes then stays where it is.
func TestTakenOver(t *testing.T) {
	w := newWorld(t, "bob")
	p := w.receiver("--poll", "300ms")
	live := w.dir + "/peers/bob/live/otherhost-00c0ffee.json"
	w.must(os.WriteFile(live, []byte(`{"claim":99,"host":"otherhost-00c0ffee","state":"idle"}`), 0o600))
	p.wantEnd("75", "xfer-recv: receive as \"bob\": host \"otherhost-00c0ffee\" has taken the mailbox over\n")
}
