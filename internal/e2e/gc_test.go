package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func (b *bench) gc(args ...string) *exec.Cmd { return b.command("alice", "xfer-gc", args...) }

// silent runs c, which has to succeed and to say nothing.
func (b *bench) silent(c *exec.Cmd) {
	b.t.Helper()
	if e := b.run(c); e.status != 0 || e.stdout != "" || e.stderr != "" {
		b.t.Errorf("%q: %v", c.Args[1:], e)
	}
}

// atOnce is how gc reaps without waiting for anything but a writer's last
// steps.
var atOnce = []string{"--tmp-age", "2s", "--keep-done", "0", "--keep-bad", "0"}

// until does f over and over, until the returned stop has been called.
func until(f func()) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
				f()
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(end)
		<-ended
	})
}

// That a file is gone says nothing about any other.
func TestNothingIsInferredFromAnAbsence(t *testing.T) {
	b := newBench(t, "alice", "bob")
	first := b.id(b.send("alice", "-k", "task", "-s", "s", "bob"), "one")
	b.id(b.send("alice", "-k", "task", "-s", "s", "bob"), "two")
	b.ok(with(b.inbox("bob", "conclude", first, "done"), "result"))
	b.ok(with(b.command("alice", "xfer-board", "create", "Plan", "--id", "plan"), ""))
	b.ok(with(b.command("alice", "xfer-board", "append", "plan"), "an entry"))
	for _, gone := range []string{"peers/bob/done/" + first, "board/plan.md", "local/ids/" + first[24:] + "/" + first, "peers/alice/peer.json"} {
		if err := os.Remove(filepath.Join(b.dir, gone)); err != nil && !strings.HasSuffix(gone, ".json") {
			t.Fatal(err)
		}
		before := b.standing()
		b.silent(b.gc("--tmp-age", "0"))
		if after := b.standing(); after != before {
			t.Errorf("without %s:\n%s\nbecame\n%s", gone, before, after)
		}
	}
}

// standing is every file of peers/, board/ and the registry, with its bytes.
func (b *bench) standing() string {
	var s strings.Builder
	for line := range strings.Lines(b.tree()) {
		if !strings.Contains(line, "/local/lock") && !strings.Contains(line, "/local/log") && !strings.HasPrefix(line, b.dir+"/local d") {
			s.WriteString(line)
		}
	}
	return s.String()
}

// Directories that are empty may go at any time.
func TestSendsBesideGCAndRmdir(t *testing.T) {
	b := newBench(t, "bob")
	b.id(b.send("alice", "-k", "notification", "-s", "s", "bob"), "the first keeps the mailbox")
	stopGC := until(func() { b.silent(b.gc(atOnce...)) })
	stopRmdir := until(func() {
		_ = exec.Command("find", b.dir, "-mindepth", "1", "-depth", "-type", "d", "-empty", "-delete").Run()
	})
	defer stopRmdir()
	defer stopGC()
	var all []*exec.Cmd
	for i := range 4 {
		send := b.send(fmt.Sprint("sender", i), "-k", "notification", "-s", "s", "--no-sync", "bob")
		loop := exec.Command("/bin/sh", append([]string{"-c", `i=0; while [ $i -lt 40 ]; do echo "$i" | "$@" || exit; i=$((i+1)); done`, "sh", send.Path}, send.Args[1:]...)...)
		loop.Env = send.Env
		all = append(all, loop)
	}
	var ids []string
	for _, e := range b.race(all) {
		if e.status != 0 {
			t.Error(e)
		}
		ids = append(ids, strings.Fields(e.stdout)...)
	}
	stopRmdir()
	stopGC()
	if n := len(b.names("bob", "new")); n != 161 || len(ids) != 160 {
		t.Errorf("%d told, %d in new/", len(ids), n)
	}
}

// A temp file stays while its writer lives, and while it was made just now,
// whatever its mtime says.
func TestTempFiles(t *testing.T) {
	b := newBench(t, "bob")
	send := b.send("alice", "-k", "notification", "-s", "s", "bob")
	body, err := send.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := send.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = send.Process.Kill() }()
	if _, err := io.WriteString(body, strings.Repeat("half of a body\n", 40_000)); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); len(b.names("bob", "tmp")) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("it writes nothing")
		}
	}
	b.silent(b.gc("--tmp-age", "0"))
	held := b.names("bob", "tmp")
	if len(held) != 1 {
		t.Fatal("gone under its writer")
	}
	_ = send.Process.Kill()
	_ = send.Wait()
	path := filepath.Join(b.dir, "peers/bob/tmp", held[0])
	old := time.Now().AddDate(0, 0, -3)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	b.silent(b.gc())
	if len(b.names("bob", "tmp")) != 1 {
		t.Error("gone although it was made just now")
	}
	if e := b.exits(0, b.gc("doctor")); !strings.Contains(e.stdout, "temp\tnote\tpeers/bob/tmp\tbeing written, or left by a crash: files: 1, bytes: ") {
		t.Errorf("doctor: %v", e)
	}
	b.silent(b.gc("--tmp-age", "0"))
	if len(b.names("bob", "tmp")) != 0 {
		t.Error("nobody holds it, and it stays")
	}
}

func TestManyGCsAtOnce(t *testing.T) {
	b := newBench(t, "bob")
	for range 20 {
		b.id(b.send("alice", "-k", "notification", "-s", "s", "--no-sync", "bob"), "x")
	}
	b.ok(b.inbox("bob", "take", "--all", "--json"))
	var all []*exec.Cmd
	for range 8 {
		all = append(all, b.gc(atOnce...))
	}
	for _, e := range b.race(all) {
		if e.status != 0 || e.stdout+e.stderr != "" {
			t.Error(e)
		}
	}
	if n := len(b.names("bob", "done")); n != 0 {
		t.Errorf("%d stay in done/", n)
	}
	b.silent(b.gc(atOnce...))
}

// Two hundred sends killed at random moments: none lost that was told, none
// half, and what they leave goes in its time.
func TestKilledSends(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	b := newBench(t, "bob")
	body := strings.Repeat("words of a body\n", 4000)
	took := b.timed(body)
	var told []string
	for range 200 {
		var out bytes.Buffer
		c := with(b.send("alice", "-k", "notification", "-s", "s", "bob"), body)
		c.Stdout = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(took*5/4)+1)), func() { _ = c.Process.Kill() })
		_ = c.Wait()
		timer.Stop()
		if id, whole := strings.CutSuffix(out.String(), "\n"); whole {
			told = append(told, id)
		}
	}
	there := b.names("bob", "new")
	for _, id := range told {
		if !slices.Contains(there, id) {
			t.Errorf("%s was told, and is lost", id)
		}
	}
	left := len(b.names("bob", "tmp"))
	e := b.exits(0, b.gc("doctor", "--deep"))
	if said := strings.Contains(e.stdout, fmt.Sprintf("peers/bob/tmp\tbeing written, or left by a crash: files: %d, bytes: ", left)); said != (left > 0) {
		t.Errorf("%d left: %v", left, e)
	}
	t.Logf("%d told, %d in new/, %d left in tmp/", len(told), len(there), left)
	b.silent(b.gc("--tmp-age", "0"))
	if n := len(b.names("bob", "tmp")); n != 0 {
		t.Errorf("%d stay in tmp/", n)
	}
	if e := b.exits(0, b.gc("doctor", "--deep")); e.stdout != "" {
		t.Errorf("afterwards: %v", e)
	}
	if after := b.names("bob", "new"); !slices.Equal(there, after) {
		t.Errorf("%d in new/, then %d", len(there), len(after))
	}
}

// timed is how long a send takes here and now.
func (b *bench) timed(body string) time.Duration {
	var all []time.Duration
	for range 5 {
		began := time.Now()
		b.id(b.send("alice", "-k", "notification", "-s", "s", "bob"), body)
		all = append(all, time.Since(began))
	}
	return slices.Max(all)
}

// beside is how long gc runs beside everything else, in seconds;
// $XFER_TEST_SECONDS says otherwise.
const beside = 30

// Eight senders, four takers, a handler and gc in a loop: nothing is lost,
// nothing is handled twice, and doctor has notes at most.
func TestGCBesideEverything(t *testing.T) {
	b := newBench(t, "bob", "carol")
	b.exits(1, b.inbox("bob", "take", "--all", "--json"))
	var mu sync.Mutex
	sent, out := make(map[string]string), make(map[string]int)
	ran := filepath.Join(filepath.Dir(b.dir), "ran")
	recv := b.command("carol", "xfer-recv", "-q", "--jobs", "2", "--", "sh", "-c", `echo "$XFER_HANDOFF_ID" >>"$0"`, ran)
	if err := recv.Start(); err != nil {
		t.Fatal(err)
	}
	var stops []func()
	for i := range 8 {
		to := []string{"bob", "carol"}[i%2]
		stops = append(stops, until(func() {
			id := b.id(b.send(fmt.Sprint("sender", i), "-k", "notification", "-s", "s", "--no-sync", to), "body")
			mu.Lock()
			defer mu.Unlock()
			sent[id] = to
		}))
	}
	take := func() {
		e := b.run(b.inbox("bob", "take", "--limit", "5", "--json"))
		if e.status != 0 && e.status != 1 {
			t.Error(e)
		}
		mu.Lock()
		defer mu.Unlock()
		for line := range strings.Lines(e.stdout) {
			out[between(line, `"id":"`, `"`)]++
		}
	}
	var others []func()
	for range 4 {
		others = append(others, until(take))
	}
	others = append(others, until(func() { b.silent(b.gc(append(slices.Clone(atOnce), "--keep-ids", "1d")...)) }),
		until(func() { b.onlyNotes() }))
	time.Sleep(seconds(t, beside)) // this is what is measured out, not waited for
	for _, stop := range append(stops, others...) {
		stop()
	}
	for len(b.names("bob", "new"))+len(b.names("bob", "cur")) > 0 {
		take()
	}
	b.untilEmpty("carol")
	_ = recv.Process.Signal(os.Interrupt)
	_ = recv.Wait()
	handled, err := os.ReadFile(ran)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range strings.Fields(string(handled)) {
		out[id]++
	}
	for id, to := range sent {
		if out[id] != 1 {
			t.Errorf("%s to %s was handled %d times", id, to, out[id])
		}
	}
	if len(out) != len(sent) || len(sent) == 0 {
		t.Errorf("%d sent, %d handled", len(sent), len(out))
	}
	t.Logf("%d sent", len(sent))
}

// untilEmpty waits until nothing of peer's is left to be handled.
func (b *bench) untilEmpty(peer string) {
	deadline := time.Now().Add(time.Minute)
	for len(b.names(peer, "new"))+len(b.names(peer, "cur")) > 0 {
		if time.Now().After(deadline) {
			b.t.Fatalf("%s is not done after a minute", peer)
		}
	}
}

// onlyNotes runs doctor, which may have notes.
func (b *bench) onlyNotes() {
	e := b.run(b.gc("doctor", "--json"))
	if e.status != 0 {
		b.t.Error(e)
	}
	for line := range strings.Lines(e.stdout) {
		var f struct{ Severity string }
		if err := json.Unmarshal([]byte(line), &f); err != nil || f.Severity != "note" {
			b.t.Errorf("%v: %s", err, line)
		}
	}
}

func seconds(t *testing.T, n int) time.Duration {
	s := os.Getenv("XFER_TEST_SECONDS")
	if s == "" {
		return time.Duration(n) * time.Second
	}
	d, err := time.ParseDuration(s + "s")
	if err != nil {
		t.Fatal(err)
	}
	return d
}
