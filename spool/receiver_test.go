package spool

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// next is what the receiver would announce now, claimed, and what it notes.
func next(t *testing.T, r *Receiver) (claims []*Claim, notes []string) {
	t.Helper()
	q, err := r.Arrivals(true)
	if err != nil {
		t.Fatal(err)
	}
	claims, err = r.Next(context.Background(), q, 0)
	if err != nil {
		t.Fatal(err)
	}
	return claims, q.Notes()
}

// announceAll receives what is there and returns how many that was.
func announceAll(t *testing.T, r *Receiver) (n int) {
	q, err := r.Arrivals(true)
	for err == nil {
		var claims []*Claim
		claims, err = r.Next(context.Background(), q, 0)
		if err != nil || len(claims) == 0 {
			break
		}
		n += len(claims)
		err = r.Received(claims)
	}
	if err != nil {
		t.Error(err)
	}
	return n
}

// A copy that a mail reader has marked in cur/ counts for each of a group, and
// also where it came while the receiver was at work.
func TestReceiverSeesSuffixedCopies(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	r := receive(t, m)
	for range 2 {
		var ids []ID
		for range 5 {
			ids = append(ids, mustSend(t, s, note(""), "body"))
		}
		marked := ids[3]
		data, err := os.ReadFile(m.file(New, marked))
		if err != nil {
			t.Fatal(err)
		}
		put(t, m.file(Cur, marked)+":2,S", data)
		r.announced[marked] = true
		claims, notes := next(t, r)
		var got []ID
		for _, c := range claims {
			got = append(got, c.ID)
		}
		if want := slices.Delete(ids, 3, 4); !slices.Equal(got, want) {
			t.Errorf("announced %q, want %q", got, want)
		}
		if len(notes) != 1 || !strings.Contains(notes[0], "already handled") {
			t.Errorf("noted %q", notes)
		}
		if err := r.Received(claims); err != nil {
			t.Fatal(err)
		}
	}
}

// What is not whole is hashed once, and again when it has changed; one that
// has just changed is not trusted to show the next change.
func TestReceiverLooksAgainAtWhatChanges(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	r := receive(t, m)
	id := newID(t, s)
	whole := onDisk(id, nil, "the body")
	path := m.file(New, id)
	put(t, path, append(whole[:len(whole)-1:len(whole)-1], '?'))
	if _, notes := next(t, r); len(notes) != 1 || len(r.left) != 0 {
		t.Fatalf("a young one: noted %q, remembered %v", notes, r.left)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	r.left[path] = stampOf(info)
	if claims, notes := next(t, r); len(claims)+len(notes) > 0 {
		t.Errorf("read again although it has not changed: %q", notes)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	claims, _ := next(t, r)
	if len(claims) != 1 {
		t.Fatalf("%d claims on what has become whole", len(claims))
	}
	if err := r.Received(claims); err != nil {
		t.Fatal(err)
	}
}

// What is removed between its line and the move is gone, and ends no receiver.
func TestReceiverOutlivesWhatIsRemoved(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	r := receive(t, m)
	gone, stays := mustSend(t, s, note(""), "1"), mustSend(t, s, note(""), "2")
	claims, _ := next(t, r)
	if err := os.Remove(m.file(New, gone)); err != nil {
		t.Fatal(err)
	}
	if err := r.Received(claims); err != nil {
		t.Errorf("received: %v", err)
	}
	if l, err := m.scan(Cur); err != nil || len(l.entries) != 1 || l.entries[0].id != stays {
		t.Errorf("in cur/: %v, %v", l.entries, err)
	}
}

// Whoever has the name by now is not overwritten by a beat that comes late.
func TestNoBeatAfterClose(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	r := receive(t, m)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	live := filepath.Join(m.liveDir(), string(here)+".json")
	put(t, live, []byte("the next one's\n"))
	if err := r.Beat(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(live); err != nil || string(b) != "the next one's\n" {
		t.Errorf("live file: %q, %v", b, err)
	}
}
