package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

const limit = 1 << 20

func limited(c *exec.Cmd) *exec.Cmd {
	c.Env = append(c.Env, fmt.Sprint("XFER_MAX_BYTES=", limit))
	return c
}

func noise(n int) string {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return string(b)
}

// Bodies come back byte for byte, whichever way they go in and out.
func TestBodies(t *testing.T) {
	b := newBench(t, "alice", "bob")
	for name, body := range map[string]string{
		"none":               "",
		"one byte":           "x",
		"the limit":          strings.Repeat("ü", limit/2),
		"CRLF":               "a\r\nb\r\n",
		"no last line end":   "a\nb",
		"NUL":                "a\x00b\x00",
		"only NUL":           "\x00",
		"a header":           "From: mallory@x\nTo: bob@xfer\nXfer-Kind: task\n\nbody",
		"a blank line first": "\n\nbody",
		"mbox":               "From a\n>From b\n.\n",
		"not UTF-8":          "a\xffb\xc3",
		"cut in a character": strings.Repeat("x", 64<<10-1) + "ü",
		"what JSON escapes":  "\"\\\u2028\u2029<>&\x01\x7f\u0085\ufffd",
		"noise":              noise(64<<10 + 1),
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{t, b.dir}
			path := filepath.Join(t.TempDir(), "body")
			if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
			comeBack(b, b.id(limited(b.send("alice", "-k", "task", "-s", "s", "bob")), body), body)
			comeBack(b, b.id(limited(b.send("alice", "-k", "task", "-s", "s", "bob", "-f", path)), ""), body)
		})
	}
}

// comeBack wants the body of the task id from each command that gives it, and
// then as that of its conclusion.
func comeBack(b *bench, id, body string) {
	b.t.Helper()
	wantBody(b, "show --body", b.ok(b.inbox("bob", "show", "--body", id)), body)
	wantBody(b, "take", b.ok(b.inbox("bob", "take", id)), body)
	b.ok(b.inbox("bob", "release", id))
	wantBody(b, "take --json", fromJSON(b, b.ok(b.inbox("bob", "take", id, "--json"))), body)
	b.ok(b.inbox("bob", "release", id))
	dir := b.t.TempDir()
	b.ok(b.inbox("bob", "take", id, "--dir", dir))
	data, err := os.ReadFile(filepath.Join(dir, id))
	if err != nil {
		b.t.Fatal(err)
	}
	wantBody(b, "take --dir", string(data), body)
	b.ok(limited(with(b.inbox("bob", "conclude", id, "done"), body)))
	wantBody(b, "the conclusion", b.ok(b.inbox("alice", "take")), body)
}

func wantBody(b *bench, how, got, want string) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("%s gives %d bytes, want %d: %.80q, want %.80q", how, len(got), len(want), got, want)
	}
}

func fromJSON(b *bench, line string) string {
	b.t.Helper()
	var r struct {
		Body   *string
		Base64 []byte `json:"body_base64"`
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		b.t.Errorf("%v: %.300q", err, line)
		return ""
	}
	if r.Body == nil {
		if utf8.Valid(r.Base64) {
			b.t.Error("text comes as body_base64")
		}
		return string(r.Base64)
	}
	return *r.Body
}

func TestLargeBody(t *testing.T) {
	b := newBench(t, "alice", "bob")
	comeBackLarge := noise(8 << 20)
	id := b.id(b.send("alice", "-k", "task", "-s", "s", "bob"), comeBackLarge)
	wantBody(b, "show --body", b.ok(b.inbox("bob", "show", "--body", id)), comeBackLarge)
	wantBody(b, "take", b.ok(b.inbox("bob", "take", id)), comeBackLarge)
	b.ok(b.inbox("bob", "release", id))
	wantBody(b, "take --json", fromJSON(b, b.ok(b.inbox("bob", "take", id, "--json"))), comeBackLarge)
}

func TestBodyOverTheLimit(t *testing.T) {
	b := newBench(t, "alice", "bob")
	id := b.id(b.send("alice", "-k", "task", "-s", "s", "bob"), "task")
	b.exits(1, b.inbox("bob", "take", "--from", "nobody")) // claims the mailbox
	before := b.tree()
	over := strings.Repeat("x", limit+1)
	path := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(path, []byte(over), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*exec.Cmd{
		with(b.send("alice", "-k", "notification", "bob"), over),
		b.send("alice", "-k", "notification", "bob", "-f", path),
		with(b.inbox("bob", "conclude", id, "done"), over),
	} {
		e := b.exits(64, limited(c))
		if !strings.Contains(e.stderr, fmt.Sprint(limit)) || !strings.Contains(e.stderr, fmt.Sprint(limit+1)) {
			t.Errorf("%q: want both figures\n%v", c.Args[1:], e)
		}
		if b.tree() != before {
			t.Errorf("%q: the spool is not as it was", c.Args[1:])
		}
	}
	e := b.exits(64, with(b.send("alice", "-k", "notification", "bob"), strings.Repeat("x", 32<<20+1)))
	if !strings.Contains(e.stderr, "33554432") || !strings.Contains(e.stderr, "33554433") {
		t.Error(e)
	}
}
