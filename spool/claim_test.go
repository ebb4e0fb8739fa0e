package spool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"xfer/internal/durable"
)

// bob is a mailbox with one whole handoff in new/, behind the one that a test
// is about: the next one always comes.
func bob(t *testing.T) (m *Mailbox, id, next ID) {
	s := newSpool(t, "bob")
	id = newID(t, s)
	next = newID(t, s)
	m = mailbox(t, s, "bob")
	put(t, m.file(New, next), onDisk(next, nil, "next"))
	return m, id, next
}

// wantTaken takes all, and wants it to be what bodies says.
func wantTaken(t *testing.T, m *Mailbox, bodies map[ID]string) (notes string) {
	t.Helper()
	got, notes := takeAll(t, m)
	if len(got) != len(bodies) {
		t.Errorf("taken: %q, want %q", got, bodies)
	}
	for id, body := range bodies {
		if got[id] != body {
			t.Errorf("taken: %q, want %q", got, bodies)
		}
	}
	return notes
}

func wantNote(t *testing.T, notes, want string) {
	t.Helper()
	if !strings.Contains(notes, want) {
		t.Errorf("no %q in the notes %q", want, notes)
	}
}

// wantAside wants one file set aside as id.word-…, with data and a reason.
func wantAside(t *testing.T, m *Mailbox, id ID, word string, data []byte) {
	t.Helper()
	names := files(t, m, "bad")
	if len(names) != 1 || !strings.HasPrefix(names[0], string(id)+"."+word+"-") {
		t.Fatalf("bad/ holds %q, want one %s.%s-…", names, id, word)
	}
	path := filepath.Join(m.placeDir(Bad), names[0])
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
		t.Errorf("set aside: %q, %v", got, err)
	}
	if reason, err := os.ReadFile(path + reasonSuffix); err != nil || len(reason) < 5 {
		t.Errorf("its reason: %q, %v", reason, err)
	}
}

func TestClaimAnotherHandoffOfTheSameID(t *testing.T) {
	m, id, next := bob(t)
	other := onDisk(id, nil, "other")
	put(t, m.file(Cur, id), onDisk(id, nil, "first"))
	put(t, m.file(New, id), other)
	notes := wantTaken(t, m, map[ID]string{id: "first", next: "next"})
	wantNote(t, notes, "new/"+string(id))
	wantNote(t, notes, "cur/"+string(id))
	wantAside(t, m, id, "differs", other)
	wantFiles(t, m, "new")
}

func TestClaimGhosts(t *testing.T) {
	whole := func(id ID) []byte { return onDisk(id, nil, "body") }
	for _, right := range []Place{Cur, Work, Finished, Bad} {
		t.Run(string(right), func(t *testing.T) {
			m, id, next := bob(t)
			put(t, m.file(right, id), whole(id))
			put(t, m.file(New, id), whole(id))
			want := map[ID]string{next: "next"}
			if right == Cur {
				want[id] = "body"
			}
			notes := wantTaken(t, m, want)
			wantNote(t, notes, "already handled")
			wantFiles(t, m, "new")
		})
	}
}

func TestClaimGhostThatIsNotWhole(t *testing.T) {
	m, id, next := bob(t)
	put(t, m.file(Finished, id), onDisk(id, nil, "body"))
	altered := append(onDisk(id, nil, "body"), 0)[:len(onDisk(id, nil, "body"))]
	altered[len(altered)-1] ^= 1
	put(t, m.file(New, id), altered)
	notes := wantTaken(t, m, map[ID]string{next: "next"})
	wantNote(t, notes, "incomplete")
	wantFiles(t, m, "new", string(id))
	wantFiles(t, m, "bad")

	other := onDisk(id, nil, "bodY")
	put(t, m.file(New, id), other)
	wantTaken(t, m, nil)
	wantFiles(t, m, "new")
	wantFiles(t, m, "done", string(id), string(next))
	wantAside(t, m, id, "differs", other)
}

// What lies broken in bad/ under an id has not handled it.
func TestClaimBesideABrokenOneInBad(t *testing.T) {
	m, id, next := bob(t)
	put(t, m.file(Bad, id), onDisk(id, nil, "body")[:50])
	put(t, m.file(New, id), onDisk(id, nil, "body"))
	wantTaken(t, m, map[ID]string{id: "body", next: "next"})
}

func TestClaimCutFiles(t *testing.T) {
	m, id, next := bob(t)
	b := onDisk(id, nil, strings.Repeat("body ", 100))
	head := bytes.Index(b, []byte("\n\n"))
	want := map[ID]string{next: "next"}
	for _, n := range []int{0, head / 2, head, head + 1, head + 2, head + 250, len(b) - 1} {
		put(t, m.file(New, id), b[:n])
		notes := wantTaken(t, m, want)
		wantNote(t, notes, "incomplete")
		wantFiles(t, m, "new", string(id))
		want = nil
	}
	// At its full length, and not yet its bytes.
	put(t, m.file(New, id), append(bytes.Clone(b[:head+250]), make([]byte, len(b)-head-250)...))
	wantNote(t, wantTaken(t, m, nil), "digest")
	wantFiles(t, m, "bad")
	put(t, m.file(New, id), b)
	wantTaken(t, m, map[ID]string{id: strings.Repeat("body ", 100)})
	wantTaken(t, m, nil)
}

func TestClaimAlteredFile(t *testing.T) {
	m, id, next := bob(t)
	b := onDisk(id, nil, "body")
	put(t, m.file(New, id), append(b[:len(b)-1], 'Y'))
	wantNote(t, wantTaken(t, m, map[ID]string{next: "next"}), "digest")
	_, err := m.ClaimID(context.Background(), id)
	wantErr(t, err, ErrIncomplete)
}

func TestClaimMalformed(t *testing.T) {
	for name, b := range map[string]func(ID) []byte{
		"longer than it says": func(id ID) []byte { return append(onDisk(id, nil, "body"), "more"...) },
		"another's id":        func(ID) []byte { return onDisk(anID, nil, "body") },
		"no header":           func(ID) []byte { return []byte("hello\n\nbody") },
	} {
		t.Run(name, func(t *testing.T) {
			m, id, next := bob(t)
			data := b(id)
			put(t, m.file(New, id), data)
			wantNote(t, wantTaken(t, m, map[ID]string{next: "next"}), "set aside as bad/"+string(id)+".malformed-")
			wantAside(t, m, id, "malformed", data)
			// The same bytes come back: one copy is enough.
			put(t, m.file(New, id), data)
			wantTaken(t, m, nil)
			wantAside(t, m, id, "malformed", data)
			wantFiles(t, m, "new")
			// It said nothing about the id.
			put(t, m.file(New, id), onDisk(id, nil, "whole"))
			wantTaken(t, m, map[ID]string{id: "whole"})
		})
	}
}

func TestClaimMisrouted(t *testing.T) {
	m, id, next := bob(t)
	put(t, m.file(New, id), onDisk(id, func(h *Header) { h.To = "carol" }, "body"))
	wantNote(t, wantTaken(t, m, map[ID]string{next: "next"}), "addressed to carol")
	wantFiles(t, m, "bad", string(id))
	if r := m.reason(id); !strings.Contains(r, "carol") {
		t.Errorf("the reason is %q", r)
	}
}

func TestClaimInfoSuffix(t *testing.T) {
	for _, suffix := range []string{":2,S", ";2,", "!2,FS"} {
		m, id, next := bob(t)
		put(t, m.file(Cur, id)+suffix, onDisk(id, nil, "body"))
		wantTaken(t, m, map[ID]string{id: "body", next: "next"})
		wantFiles(t, m, "cur")
		wantFiles(t, m, "done", string(id), string(next))
	}
	m, id, next := bob(t)
	for _, suffix := range []string{":1,S", ":2", "2,S", ".2,S"} {
		put(t, m.file(Cur, id)+suffix, onDisk(id, nil, "body"))
	}
	put(t, m.file(New, id)+":2,S", onDisk(id, nil, "body"))
	wantNote(t, wantTaken(t, m, map[ID]string{next: "next"}), "5 names")
}

// A mail reader renames a file that is claimed: the same inode is committed.
func TestClaimSurvivesAMailReader(t *testing.T) {
	for _, from := range []string{"new", "cur"} {
		m, id, _ := bob(t)
		put(t, filepath.Join(m.dir, from, string(id)), onDisk(id, nil, "body"))
		c, err := m.ClaimID(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(m.path(c.e), m.file(Cur, id)+":2,S"); err != nil {
			t.Fatal(err)
		}
		if err := c.Taken(""); err != nil {
			t.Error(err)
		}
		c.Release()
		wantFiles(t, m, "cur")
		wantFiles(t, m, "done", string(id))
	}
}

func TestClaimOfAFileThatIsGone(t *testing.T) {
	m, id, _ := bob(t)
	put(t, m.file(New, id), onDisk(id, nil, "body"))
	c, err := m.ClaimID(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	if err := os.Remove(m.path(c.e)); err != nil {
		t.Fatal(err)
	}
	if err := c.Taken(""); err == nil {
		t.Error("what was not moved is called taken")
	}
}

// A file that took the name of a claimed one is another file.
func TestClaimIsOfTheInode(t *testing.T) {
	m, id, _ := bob(t)
	put(t, m.file(New, id), onDisk(id, nil, "body"))
	f, info, err := durable.OpenRegular(m.file(New, id), os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	put(t, m.file(Cur, id), onDisk(id, nil, "body"))
	if err := os.Rename(m.file(Cur, id), m.file(New, id)); err != nil {
		t.Fatal(err)
	}
	err = m.claimOpen(entry{id, New, string(id)}, f, info)
	wantErr(t, err, errGone)
}

func TestLinkedNamesAreOneHandoff(t *testing.T) {
	m, id, next := bob(t)
	put(t, m.file(Finished, id), onDisk(id, nil, "body"))
	if err := os.Link(m.file(Finished, id), m.file(New, id)); err != nil {
		t.Fatal(err)
	}
	wantNote(t, wantTaken(t, m, map[ID]string{next: "next"}), "already handled")
	wantFiles(t, m, "new")
	wantFiles(t, m, "done", string(id), string(next))
}

// While somebody works on the right copy, the left one stays.
func TestClaimGhostOfALockedOne(t *testing.T) {
	m, id, next := bob(t)
	put(t, m.file(Cur, id), onDisk(id, nil, "body"))
	c, err := m.ClaimID(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	put(t, m.file(New, id), onDisk(id, nil, "bodY"))
	wantTaken(t, m, map[ID]string{next: "next"})
	wantFiles(t, m, "new", string(id))
	wantFiles(t, m, "bad")
	c.Release()
	wantTaken(t, m, map[ID]string{id: "body"})
	wantAside(t, m, id, "differs", onDisk(id, nil, "bodY"))
}

func TestClaimWhatIsNoFile(t *testing.T) {
	m, id, next := bob(t)
	secret := filepath.Join(t.TempDir(), "secret")
	put(t, secret, onDisk(id, nil, "secret"))
	if err := os.Symlink(secret, m.file(New, id)); err != nil {
		t.Fatal(err)
	}
	wantNote(t, wantTaken(t, m, map[ID]string{next: "next"}), "not a regular file")
	wantFiles(t, m, "new", string(id))
}

// Readers that race hand each handoff out once.
func TestClaimRace(t *testing.T) {
	s := newSpool(t, "bob")
	for range 100 {
		mustSend(t, s, note(""), "body")
	}
	m := mailbox(t, s, "bob")
	var mu sync.Mutex
	out := map[ID]int{}
	race(8, func(int) {
		q, err := m.Queue(Filter{})
		if err != nil {
			t.Error(err)
			return
		}
		for {
			c, err := q.Next(context.Background())
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				mu.Lock()
				out[c.ID]++
				mu.Unlock()
				err = c.Taken("")
				c.Release()
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	for id, n := range out {
		if n != 1 {
			t.Errorf("%s: handed out %d times", id, n)
		}
	}
	if bodies, _ := takeAll(t, m); len(bodies)+len(out) != 100 {
		t.Errorf("%d handed out, %d left", len(out), len(bodies))
	}
}

// A task that was released is offered once, to whichever of two readers that
// have seen it comes first.
func TestClaimReleasedTaskOnce(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	id := mustSend(t, s, Draft{From: "alice", To: "bob", Kind: Task, Subject: "s"}, "body")
	takeAll(t, m)
	if _, err := m.Offer(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	late, err := m.Queue(Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if bodies, _ := takeAll(t, m); bodies[id] != "body" {
		t.Errorf("offered: %q", bodies)
	}
	if c, err := late.Next(context.Background()); !errors.Is(err, io.EOF) {
		t.Errorf("offered a second time: %v, %v", c, err)
	}
}

// A long queue is worked off in order, whether it is sorted yet or not.
func TestQueueOrder(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	const many = sortAfter + 50
	for range many {
		put(t, m.file(New, newID(t, s)), nil)
	}
	q, err := m.Queue(Filter{})
	if err != nil {
		t.Fatal(err)
	}
	last := ID("")
	for n := range many {
		if e := q.pop(); e.id <= last {
			t.Fatalf("%d: %s after %s", n, e.id, last)
		} else {
			last = e.id
		}
	}
	if len(q.entries) > 0 {
		t.Errorf("%d are left", len(q.entries))
	}
}
