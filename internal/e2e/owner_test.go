package e2e

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"xfer/spool"
	"xfer/spool/reap"
)

// kept are the files that stay for good, or that go with the handoff they are
// of. The board merges what it staged itself. Whatever else a program makes is
// temporary.
var kept = regexp.MustCompile(`^(\.|xfer-spool|\.stignore|board/[a-z]+\.md|board/seen/[a-z]+\.json` +
	`|peers/[a-z]+/(peer\.json|live/[a-z0-9-]+\.json|(new|cur|work)/[0-9a-z]{26})` +
	`|local/(self|claims/[a-z]+|lock/[a-z0-9.]+|log/[a-z.0-9]+|ids/[0-9a-z]{2}/[0-9a-z]{26}|ids/key/[0-9a-f]+|tmp/card\.[a-z]+\.[0-9a-f]+))$`)

// needed are the kinds of which the programs have to make one, or the test
// looks at too little.
var needed = []spool.LeftoverKind{
	spool.LeftTemp, spool.LeftLocalTemp, spool.LeftSpoolTemp, spool.LeftBeside, spool.LeftEdit, spool.LeftDocument,
	spool.LeftWaiter, spool.LeftRun, spool.LeftReleased, spool.LeftFinished, spool.LeftSetAside, spool.LeftPast, spool.LeftMemory,
}

// Everything that writes is run, and each name that was made, there still or
// not, is laid out again as a kill would leave it: once its time has passed, gc
// plans to clear it away.
func TestEveryTempFileHasAnOwner(t *testing.T) {
	b := newBench(t)
	made := b.madeByAll()
	made[filepath.Join(filepath.Dir(b.dir), ".spool.new")] = true
	var temporary []string
	for _, path := range slices.Sorted(maps.Keys(made)) {
		if !kept.MatchString(b.below(path)) {
			b.leave(path)
			temporary = append(temporary, b.below(path))
		}
	}
	planned, kinds := b.planned()
	for _, path := range temporary {
		if !planned[path] && !planned[strings.TrimSuffix(path, ".reason")] {
			t.Errorf("nobody clears away %s", path)
		}
	}
	for _, kind := range needed {
		if !kinds[kind] {
			t.Errorf("nobody made a %s: this test looks at too little", kind)
		}
	}
	t.Logf("%d names, %d of them temporary", len(made), len(temporary))
}

func (b *bench) below(path string) string {
	rel, err := filepath.Rel(b.dir, path)
	if err != nil {
		b.t.Fatal(err)
	}
	return rel
}

// leave lays out what a kill would leave at path.
func (b *bench) leave(path string) {
	if _, err := os.Lstat(path); err == nil {
		return
	}
	if filepath.Base(path) == ".spool.new" {
		if err := os.Mkdir(path, 0o700); err != nil {
			b.t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("left by a kill\n"), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// planned is what gc would clear away two years from now, by its path and by
// its kind.
func (b *bench) planned() (paths map[string]bool, kinds map[spool.LeftoverKind]bool) {
	sys := spool.NewSystem()
	sys.Host = func() (spool.Host, error) { return "here", nil }
	s, err := spool.Open(b.dir, sys)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := s.Reap(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Close()
	paths, kinds = make(map[string]bool), make(map[spool.LeftoverKind]bool)
	w := &reap.Sweep{R: r, S: s, Keep: reap.DefaultKeep(), Dry: true,
		Now:  func() time.Time { return time.Now().AddDate(2, 0, 0) },
		Tell: func(d reap.Done) { paths[b.below(r.Path(&d.Leftover))], kinds[d.Kind] = true, true },
	}
	if err := w.Run(context.Background()); err != nil {
		b.t.Fatal(err)
	}
	return paths, kinds
}

// madeByAll runs each program and verb that writes, and is every file that it
// made.
func (b *bench) madeByAll() map[string]bool {
	made := make(map[string]bool)
	run := func(c *exec.Cmd, body string) {
		b.t.Helper()
		for line := range strings.Lines(b.traced(0, with(c, body))) {
			if path, ok := madeBy(line); ok && strings.HasPrefix(path, filepath.Dir(b.dir)+"/") {
				// The next one to make the spool goes on with what is in there.
				made[strings.Replace(path, "/.spool.new/", "/spool/", 1)] = true
			}
		}
	}
	as := func(name, program string, args ...string) { b.t.Helper(); run(b.command(name, program, args...), "") }
	send := func(body string, args ...string) { b.t.Helper(); run(b.send("alice", args...), body) }
	note := []string{"-k", "notification", "-s", "s"}

	as("bob", "xfer-inbox", "create", "--describe", "works")
	as("bob", "xfer-inbox", "policy", "all")
	as("bob", "xfer-inbox", "hold")
	as("bob", "xfer-inbox", "unhold")
	send("a task", "-k", "task", "-s", "s", "bob")
	task := b.names("bob", "new")[0]
	as("bob", "xfer-inbox", "take", "--by", "me")
	as("bob", "xfer-inbox", "release", task)
	as("bob", "xfer-inbox", "take", task)
	run(b.inbox("bob", "conclude", task, "done"), "result")
	as("alice", "xfer-inbox", "await", task)
	send("with a key", append(note, "--key", "k", "bob")...)
	send(`{"to":"bob","kind":"notification","subject":"s","body":"one of many"}`, "--batch")
	as("bob", "xfer-recv", "--drain")
	as("bob", "xfer-recv", "--drain", "--", "cat")
	send("not to be handled", append(note, "bob")...)
	as("bob", "xfer-recv", "--drain", "--retries", "0", "--", "false")
	send("a task to be handled", "-k", "task", "-s", "s", "bob")
	as("bob", "xfer-recv", "--drain", "--conclude", "--", "cat")
	as("alice", "xfer-inbox", "take", "--all", "--json")
	b.boardMakes(as, run)
	b.gcMakes(as, send)
	return made
}

func (b *bench) boardMakes(as func(name, program string, args ...string), run func(*exec.Cmd, string)) {
	as("alice", "xfer-board", "create", "Plan", "--id", "plan")
	run(b.command("alice", "xfer-board", "append", "plan"), "an entry")
	edit := b.command("alice", "xfer-board", "edit", "plan")
	edit.Env = append(edit.Env, "VISUAL=sed -i s/entry/edit/")
	run(edit, "")
	as("alice", "xfer-board", "seen", "plan")
	as("alice", "xfer-board", "remove", "plan", "--yes")
}

// gcMakes lets go, in two runs, the handoffs of a peer and then their links.
func (b *bench) gcMakes(as func(name, program string, args ...string), send func(body string, args ...string)) {
	broken := filepath.Join(b.dir, "peers/bob/new/01kb9w6t3v8f5s7q2m4x0c1d9z")
	if err := os.WriteFile(broken, []byte("broken\n\n"), 0o600); err != nil {
		b.t.Fatal(err)
	}
	as("carol", "xfer-inbox", "create")
	send("to be let go", "-k", "notification", "-s", "s", "carol")
	as("carol", "xfer-inbox", "take")
	for range 2 {
		as("alice", "xfer-gc", "--tmp-age", "0", "--keep-done", "0")
	}
	as("dave", "xfer-inbox", "create")
	as("dave", "xfer-inbox", "remove", "dave", "--yes")
	if err := os.Remove(filepath.Join(b.dir, ".stignore")); err != nil {
		b.t.Fatal(err)
	}
	as("alice", "xfer-gc", "doctor", "--repair")
}

var quoted = regexp.MustCompile(`"([^"]*)"`)

// madeBy is the file that a system call made, by its line in strace's log: the
// last path of a link or rename, that of an open which may create.
func madeBy(line string) (path string, ok bool) {
	_, call, _ := strings.Cut(line, " ")
	call = strings.TrimSpace(call)
	name, _, _ := strings.Cut(call, "(")
	makes := slices.Contains([]string{"creat", "link", "linkat", "rename", "renameat", "renameat2", "symlink", "symlinkat"}, name) ||
		strings.HasPrefix(name, "open") && strings.Contains(call, "O_CREAT")
	paths := quoted.FindAllStringSubmatch(call, -1)
	if !makes || len(paths) == 0 || strings.Contains(call, " = -1 ") {
		return "", false
	}
	return paths[len(paths)-1][1], true
}
