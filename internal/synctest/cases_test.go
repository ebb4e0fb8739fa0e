//go:build sync

package synctest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (h *host) read(name string) []byte {
	h.t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

func (h *host) write(name string, b []byte) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), b, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// takes wants bob to be handed out exactly these bodies, one after another, and
// is what was told.
func (h *host) takes(bodies ...string) (told string) {
	h.t.Helper()
	for _, want := range bodies {
		e := h.run("bob", "", "xfer-inbox", "take")
		if e.status != 0 || e.stdout != want {
			h.t.Errorf("took %q (%d), want %q\n%s", e.stdout, e.status, want, e.stderr)
		}
		told += e.stderr
	}
	e := h.run("bob", "", "xfer-inbox", "take")
	if e.status != 1 || e.stdout != "" {
		h.t.Errorf("one too many: took %q (%d)", e.stdout, e.status)
	}
	return told + e.stderr
}

func wantTold(t *testing.T, told string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(told, want) {
			t.Errorf("not told: %q; but %q", want, told)
		}
	}
}

// What a sync tool can put into a mailbox, each brought by a real one.
func TestWhatSyncthingBrings(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	const mailbox = "peers/bob/new/"
	send := func(body string) (id string, file []byte) {
		id = p.a.send("alice", "bob", "notification", body)
		return id, p.a.read(mailbox + id)
	}
	bring := func() { p.do("sync") }

	t.Run("a conflict copy beside it", func(t *testing.T) {
		id, file := send("one")
		p.a.write(mailbox+id+".sync-conflict-20261130-170000-ABCDEFG", file)
		bring()
		wantTold(t, p.b.takes("one"), "left alone")
		p.b.ok("bob", "", "xfer-gc", "--tmp-age", "0s")
		bring()
		if left := p.b.names("bob", "new"); len(left) > 0 {
			t.Errorf("gc leaves %q", left)
		}
	})
	t.Run("a finished one comes back", func(t *testing.T) {
		id, file := send("two")
		bring()
		p.b.takes("two")
		bring()
		send("after it")
		p.a.write(mailbox+id, file)
		bring()
		wantTold(t, p.b.takes("after it"), "already handled")
	})
	t.Run("and after it was let go", func(t *testing.T) {
		id, file := send("three")
		bring()
		p.b.takes("three")
		p.b.ok("bob", "", "xfer-gc", "--keep-done", "0s")
		bring()
		p.a.write(mailbox+id, file)
		bring()
		wantTold(t, p.b.takes(), "already handled")
	})
	t.Run("with one byte changed", func(t *testing.T) {
		id, file := send("four")
		bring()
		p.b.takes("four")
		bring()
		p.a.write(mailbox+id, bytes.Replace(file, []byte("\n\nfour"), []byte("\n\nFour"), 1))
		bring()
		wantTold(t, p.b.takes(), "incomplete")
		p.b.ok("bob", "", "xfer-gc", "--tmp-age", "0s")
		if left := p.b.names("bob", "new"); len(left) > 0 {
			t.Errorf("gc leaves %q", left)
		}
	})
	t.Run("with another body", func(t *testing.T) {
		id, _ := send("five")
		bring()
		p.b.takes("five")
		bring()
		other, file := send("another five")
		if err := os.Remove(filepath.Join(p.a.dir, mailbox, other)); err != nil {
			t.Fatal(err)
		}
		p.a.write(mailbox+id, bytes.ReplaceAll(file, []byte(other), []byte(id)))
		bring()
		wantTold(t, p.b.takes(), "differs", "set aside")
		if got := string(p.b.read("peers/bob/done/" + id)); !strings.HasSuffix(got, "\n\nfive") {
			t.Errorf("the first one is now %q", got)
		}
	})
	t.Run("names that are no handoff's", func(t *testing.T) {
		id, file := send("six")
		for _, name := range []string{"." + id + ".Xa31bc", id + "~", "~$" + id, id + " (host's conflicted copy)", ".DS_Store"} {
			p.a.write(mailbox+name, file)
		}
		if err := os.Mkdir(filepath.Join(p.a.dir, mailbox, "folder"), 0o700); err != nil {
			t.Fatal(err)
		}
		bring()
		wantTold(t, p.b.takes("six"), "6 names in the mailbox are not handoffs'")
		if left := p.b.names("bob", "new"); len(left) != 6 {
			t.Errorf("left: %q", left)
		}
	})
	t.Run("cut, and completed later", func(t *testing.T) {
		id, file := send("seven, which is cut off")
		path := filepath.Join(p.a.dir, mailbox, id)
		for _, length := range []int{0, 100, len(file) - 5} {
			if err := os.Truncate(path, int64(length)); err != nil {
				t.Fatal(err)
			}
			bring()
			wantTold(t, p.b.takes(), "incomplete")
			p.a.write(mailbox+id, file)
		}
		bring()
		p.b.takes("seven, which is cut off")
	})
	t.Run("addressed to another", func(t *testing.T) {
		p.a.ok("carol", "", "xfer-inbox", "create")
		id := p.a.send("alice", "carol", "notification", "eight")
		if err := os.Rename(filepath.Join(p.a.dir, "peers/carol/new", id), filepath.Join(p.a.dir, mailbox, id)); err != nil {
			t.Fatal(err)
		}
		bring()
		wantTold(t, p.b.takes(), "addressed to carol")
		bring()
		if e := p.a.run("alice", "", "xfer-inbox", "take"); !strings.Contains(e.stdout, id) {
			t.Errorf("alice is told %q", e.stdout)
		}
	})
}

// Where nothing is mounted, nothing is made.
func TestAbsentMount(t *testing.T) {
	t.Parallel()
	h := &host{t, "hosta-00000001", t.TempDir()}
	for _, c := range [][]string{{"xfer-inbox", "list"}, {"xfer-inbox", "create"}, {"xfer-send", "-k", "task", "bob"}, {"xfer-recv", "--drain"}, {"xfer-gc"}, {"xfer-board", "list"}} {
		h.exits(78, "alice", "body", c[0], c[1:]...)
	}
	if entries, err := os.ReadDir(h.dir); err != nil || len(entries) > 0 {
		t.Errorf("made %v, %v", entries, err)
	}
}

// Two spools in which one id is two handoffs are put into one another.
func TestMergedSpools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const id = "01kb9w6t3v8f5s7q2m4x0c1d9e"
	a, b := &host{t, "hosta-00000001", filepath.Join(dir, "A")}, &host{t, "hostb-00000002", filepath.Join(dir, "B")}
	for n, h := range []*host{a, b} {
		h.ok("bob", "", "xfer-inbox", "create")
		// Of one size and second they would be one file to rsync.
		h.ok("alice", "sent on "+h.name+strings.Repeat("!", n), "xfer-send", "-q", "-k", "notification", "--id", id, "bob")
	}
	rsync(t, "-a", "--exclude=/local/", a.dir+"/", b.dir+"/")
	wantTold(t, b.takes(), "altered", "set aside")
	if e := b.run("bob", "", "xfer-inbox", "show", id); e.status == 0 {
		t.Errorf("shown as whole: %q", e.stdout)
	}
}
