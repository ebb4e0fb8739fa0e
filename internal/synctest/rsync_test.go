//go:build sync

package synctest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// carry is one run of rsync each way, as docs/across-machines.md has it.
func carry(t *testing.T, run int, a, b *host) {
	t.Helper()
	suffix := fmt.Sprintf("--suffix=.sync-conflict-%d-rsync", run)
	for _, way := range [][2]string{{a.dir, b.dir}, {b.dir, a.dir}} {
		rsync(t, "-au", "--exclude=/local/", "--exclude=/peers/*/tmp/", "--exclude=/board/", way[0]+"/", way[1]+"/")
		rsync(t, "-aub", suffix, way[0]+"/board/", way[1]+"/board/")
	}
}

// vanished is rsync's exit status when a file was moved under its eyes: the
// next run has it.
const vanished = 24

func rsync(t *testing.T, args ...string) {
	t.Helper()
	c := exec.Command("rsync", args...)
	if out, err := c.CombinedOutput(); err != nil && c.ProcessState.ExitCode() != vanished {
		t.Fatalf("rsync %q: %v\n%s", args, err, out)
	}
}

// rsyncPair has alice at home on the one host, and bob on the other.
func rsyncPair(t *testing.T) (a, b *host) {
	t.Helper()
	dir := t.TempDir()
	a, b = &host{t, "hosta-00000001", filepath.Join(dir, "A")}, &host{t, "hostb-00000002", filepath.Join(dir, "B")}
	a.ok("alice", "", "xfer-inbox", "create")
	b.ok("bob", "", "xfer-inbox", "create")
	carry(t, 0, a, b)
	return a, b
}

func TestRsyncInALoop(t *testing.T) {
	t.Parallel()
	a, b := rsyncPair(t)
	a.ok("alice", "", "xfer-board", "create", "--id", "plan", "The plan")
	atA, atB := a.receive("alice", "--conclude"), b.receive("bob", "--conclude")
	p := &pair{t: t, a: a, b: b}
	var ids []string
	for run := range 10 {
		ids = append(append(ids, a.batch("alice", "bob", 6)...), b.batch("bob", "alice", 6)...)
		carry(t, 2*run+1, a, b)
		a.ok("alice", fmt.Sprintf("alice %d", run), "xfer-board", "append", "plan")
		b.ok("bob", fmt.Sprintf("bob %d", run), "xfer-board", "append", "plan")
		carry(t, 2*run+2, a, b)
	}
	p.once(ids)
	atA.stop()
	atB.stop()
	for run := range 3 {
		for _, h := range []*host{a, b} {
			h.ok("alice", "", "xfer-board", "show", "plan")
		}
		carry(t, 100+run, a, b)
	}
	text := same(t, a, b, "board/plan.md")
	for run := range 10 {
		for _, who := range []string{"alice", "bob"} {
			if line := fmt.Sprintf("\n%s %d\n", who, run); strings.Count(text, line) != 1 {
				t.Errorf("%q is there %d times", line, strings.Count(text, line))
			}
		}
	}
	p.once(ids)
}

// An rsync that is cut off leaves what it had under the final name.
func TestRsyncPartial(t *testing.T) {
	t.Parallel()
	a, b := rsyncPair(t)
	id := a.send("alice", "bob", "notification", strings.Repeat("many bytes ", 200_000))
	c := exec.Command("rsync", "-a", "--partial", "--bwlimit=200", a.dir+"/peers/bob/new/", b.dir+"/peers/bob/new/")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "some of it", func() bool {
		found, _ := filepath.Glob(filepath.Join(b.dir, "peers/bob/new/."+id+".*"))
		if len(found) == 0 {
			return false
		}
		info, err := os.Stat(found[0])
		return err == nil && info.Size() > 64<<10
	})
	_ = c.Process.Signal(syscall.SIGTERM)
	_ = c.Wait()
	eventually(t, "what it had, under the final name", func() bool {
		cut, err := os.Stat(filepath.Join(b.dir, "peers/bob/new", id))
		return err == nil && cut.Size() > 0
	})
	if e := b.exits(1, "bob", "", "xfer-inbox", "take"); e.stdout != "" || !strings.Contains(e.stderr, "incomplete") {
		t.Errorf("of what is cut off: %+v", e)
	}
	carry(t, 1, a, b)
	if got := b.ok("bob", "", "xfer-inbox", "-q", "take"); len(got) != 2_200_000 {
		t.Errorf("took %d bytes", len(got))
	}
	carry(t, 2, a, b)
	b.exits(1, "bob", "", "xfer-inbox", "-q", "take")
}
