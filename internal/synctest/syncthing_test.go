//go:build sync

package synctest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A pair is two hosts under two Syncthings.
type pair struct {
	t    *testing.T
	dir  string
	a, b *host
}

// newPair has alice at home on the one host, and bob on the other.
func newPair(t *testing.T) *pair {
	t.Helper()
	dir := t.TempDir()
	p := &pair{t: t, dir: dir, a: &host{t, "hosta-00000001", filepath.Join(dir, "A")}, b: &host{t, "hostb-00000002", filepath.Join(dir, "B")}}
	for _, h := range []*host{p.a, p.b} {
		h.ok("alice", "", "xfer-inbox", "init")
	}
	p.do("start")
	t.Cleanup(func() { p.do("stop") })
	p.a.ok("alice", "", "xfer-inbox", "create")
	p.b.ok("bob", "", "xfer-inbox", "create")
	p.do("sync")
	return p
}

func (p *pair) do(command string, args ...string) {
	p.t.Helper()
	out, err := exec.Command("../../scripts/two-syncthings.sh", append([]string{command, p.dir}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("two-syncthings %s: %v\n%s", command, err, out)
	}
}

// batch sends many from one host, and is their ids.
func (h *host) batch(from, to string, n int) (ids []string) {
	h.t.Helper()
	var lines strings.Builder
	for i := range n {
		kind := []string{"task", "notification"}[i%2]
		_, _ = fmt.Fprintf(&lines, `{"to":%q,"kind":%q,"subject":"n %d","body":"body %d\n"}`+"\n", to, kind, i, i)
	}
	for line := range strings.Lines(h.ok(from, lines.String(), "xfer-send", "-q", "--batch")) {
		var outcome struct{ ID string }
		if err := json.Unmarshal([]byte(line), &outcome); err != nil || outcome.ID == "" {
			h.t.Fatalf("batch says %q, %v", line, err)
		}
		ids = append(ids, outcome.ID)
	}
	return ids
}

// once wants each id handled exactly once, sooner or later.
func (p *pair) once(ids []string) {
	p.t.Helper()
	eventually(p.t, fmt.Sprintf("%d handled", len(ids)), func() bool {
		n := handled(p.a, p.b)
		return !slices.ContainsFunc(ids, func(id string) bool { return n[id] == 0 })
	})
	n := handled(p.a, p.b)
	for _, id := range ids {
		if n[id] != 1 {
			p.t.Errorf("%s was handled %d times", id, n[id])
		}
	}
}

func TestTwoHundredEachWay(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	atA, atB := p.a.receive("alice", "--conclude", "--jobs", "2"), p.b.receive("bob", "--conclude", "--jobs", "2")
	var ids []string
	for range 4 {
		ids = append(append(ids, p.a.batch("alice", "bob", 50)...), p.b.batch("bob", "alice", 50)...)
	}
	p.once(ids)
	eventually(t, "every task concluded", func() bool {
		return p.a.ok("alice", "", "xfer-inbox", "sent", "--open") == "" && p.b.ok("bob", "", "xfer-inbox", "sent", "--open") == ""
	})
	atA.stop()
	atB.stop()
	p.do("sync")
	p.once(ids)
	quiet(t, "", p.a, p.b)
}

func TestForcedHomes(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.b.ok("bob", "", "xfer-recv", "--drain") // claims it
	ids := p.a.batch("alice", "bob", 10)
	p.do("sync")
	p.do("pause")
	atA, atB := p.a.receive("bob", "--takeover"), p.b.receive("bob")
	eventually(t, "both have handled all", func() bool {
		a, b := handled(p.a), handled(p.b)
		return len(a) >= len(ids) && len(b) >= len(ids)
	})
	p.do("resume")
	atB.wantEnd(75, `host "hosta-00000001" has taken the mailbox over`)
	atA.stop()
	p.do("sync")
	p.b.exits(77, "bob", "", "xfer-inbox", "take")
	e := p.b.run("bob", "", "xfer-gc", "doctor")
	if !strings.Contains(e.stdout, "hosta-00000001") || !strings.Contains(e.stdout, "hostb-00000002") {
		t.Errorf("doctor does not tell of two homes:\n%s", e.stdout)
	}
}

func TestTakeoverAndReturn(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	var ids []string
	for _, turn := range []struct{ home, other *host }{{p.b, p.a}, {p.a, p.b}, {p.b, p.a}} {
		ids = append(ids, p.a.batch("alice", "bob", 10)...)
		p.do("sync")
		turn.home.ok("bob", "", "xfer-recv", append([]string{"-q", "--drain", "--takeover", "--conclude"}, turn.home.handler()...)...)
		turn.home.ok("bob", "", "xfer-gc", "--keep-done", "0s") // ids have to travel by themselves
		p.do("sync")
		turn.other.exits(77, "bob", "", "xfer-inbox", "take")
	}
	p.once(ids)
	quiet(t, "", p.a, p.b)
}

// A host is restored from an old copy. Its Syncthing forgets what it knew, as
// the documentation asks, and is let finish before anybody receives.
func TestRestoredFromAnOldCopy(t *testing.T) {
	for _, preserve := range []string{"all", "mode,timestamps"} {
		t.Run(preserve, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			drain := append([]string{"-q", "--drain", "--conclude"}, p.b.handler()...)
			ids := p.a.batch("alice", "bob", 20)
			p.do("sync")
			copied := filepath.Join(p.dir, "copy")
			if out, err := exec.Command("cp", "-r", "--preserve="+preserve, p.b.dir, copied).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			p.b.ok("bob", "", "xfer-recv", drain...)
			p.do("sync")
			p.do("stop", "B")
			if err := os.RemoveAll(p.b.dir); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(copied, p.b.dir); err != nil {
				t.Fatal(err)
			}
			p.do("forget", "B")
			p.do("start")
			p.do("sync")
			p.b.ok("bob", "", "xfer-recv", drain...)
			ids = append(ids, p.a.batch("alice", "bob", 5)...)
			p.do("sync")
			p.b.ok("bob", "", "xfer-recv", drain...)
			p.once(ids)
			p.b.ok("bob", "", "xfer-gc", "--tmp-age", "0s")
			p.do("sync")
			if left := p.b.names("bob", "new"); len(left) > 0 {
				t.Errorf("left in new/: %q", left)
			}
		})
	}
}

// A conclusion reaches who awaits it on the other host as soon as a file that
// was written at the same instant, and a second. It goes by the clock, and so
// runs by itself.
func TestAwaitAcross(t *testing.T) {
	p := newPair(t)
	marker := filepath.Join(p.b.dir, "board", "marker")
	answer := fmt.Sprintf(`cat >/dev/null; date >>%s; echo "the answer"`, marker)
	r := p.b.command("bob", "xfer-recv", "--poll", "1s", "--conclude", "--", "sh", "-c", answer)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Process.Kill(); _ = r.Wait() })
	var late, whole []time.Duration
	for n := range 5 {
		began := time.Now()
		ended := make(chan time.Time, 1)
		go func() {
			e := p.a.run("alice", "question", "xfer-send", "-q", "-k", "task", "--await", "1m", "bob")
			if e.status != 0 || e.stdout != "the answer\n" {
				t.Errorf("awaited: %+v", e)
			}
			ended <- time.Now()
		}()
		there := filepath.Join(p.a.dir, "board", "marker")
		var came time.Time
		eventually(t, "the marker", func() bool {
			b, _ := os.ReadFile(there)
			came = time.Now()
			return strings.Count(string(b), "\n") == n+1
		})
		end := <-ended
		late, whole = append(late, end.Sub(came)), append(whole, end.Sub(began))
	}
	slices.Sort(late)
	t.Logf("after the marker: %v; from the send on: %v", late, whole)
	// Now and then the two are carried by two rounds of the sync tool.
	if median := late[len(late)/2]; median > time.Second {
		t.Errorf("the conclusion came %v after the marker, want at most a second", median)
	}
}

// Both hosts append to one card while they are apart.
func TestOneCard(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.a.ok("alice", "", "xfer-board", "create", "--id", "plan", "The plan")
	p.do("sync")
	p.do("pause")
	for n := range 20 {
		p.a.ok("alice", fmt.Sprintf("alice %d", n), "xfer-board", "append", "plan")
		p.b.ok("bob", fmt.Sprintf("bob %d", n), "xfer-board", "append", "plan")
	}
	p.do("resume")
	p.do("sync")
	for _, h := range []*host{p.a, p.b} {
		h.ok("alice", "", "xfer-board", "show", "plan")
		p.do("sync")
	}
	text := same(t, p.a, p.b, "board/plan.md")
	for n := range 20 {
		for _, who := range []string{"alice", "bob"} {
			if line := fmt.Sprintf("%s %d\n", who, n); strings.Count(text, "\n"+line) != 1 {
				t.Errorf("%q is there %d times", line, strings.Count(text, "\n"+line))
			}
		}
	}
	quiet(t, "", p.a, p.b)
}
