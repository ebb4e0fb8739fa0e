package spool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// keyed is a draft under a key of its sender's.
func keyed(to Name, key string) Draft {
	return Draft{From: "alice", To: to, Kind: Notification, Subject: "s", Key: key}
}

func TestKeyCountsPerSenderAndPeer(t *testing.T) {
	s := newSpool(t, "alice", "bob", "carol")
	first := mustSend(t, s, keyed("bob", "run 1"), "body")

	r, err := send(s, keyed("bob", "run 1"), "body")
	if err != nil || r.ID != first || !r.Replayed || r.Outcome != Queued {
		t.Errorf("again: %+v, %v", r, err)
	}
	_, err = send(s, keyed("bob", "run 1"), "other")
	wantErr(t, err, ErrConflict)
	if err == nil || !strings.Contains(err.Error(), string(first)) {
		t.Errorf("%v does not name the first, %s", err, first)
	}
	fromCarol := keyed("bob", "run 1")
	fromCarol.From = "carol"
	for _, d := range []Draft{keyed("bob", "run 2"), keyed("carol", "run 1"), fromCarol} {
		if r, err := send(s, d, "body"); err != nil || r.Replayed || r.ID == first {
			t.Errorf("%+v: %+v, %v", d, r, err)
		}
	}
	wantCount(t, mailbox(t, s, "bob"), "new", 3)
	wantCount(t, mailbox(t, s, "bob"), "tmp", 0)
}

func wantCount(t *testing.T, m *Mailbox, dir string, want int) {
	t.Helper()
	if got := files(t, m, dir); len(got) != want {
		t.Errorf("%s/ holds %q, want %d", dir, got, want)
	}
}

// A crash between the key's file and the registration leaves a key whose id
// nobody knows: it is the next one's.
func TestKeyOfACrash(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	path := filepath.Join(s.keyDir(), keyHash("alice", "bob", "k"))
	if err := os.MkdirAll(s.keyDir(), privateDir); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{string(newID(t, s)) + "\n", "", "01kb9"} {
		put(t, path, []byte(left))
		r, err := send(s, keyed("bob", "k"), "body")
		if err != nil || r.Replayed {
			t.Errorf("after %q: %+v, %v", left, r, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(r.ID)+"\n" {
			t.Errorf("after %q the key names %q, %v", left, got, err)
		}
	}
}

// A crash before the publish leaves a key, a link and a temp file: the call
// again completes them.
func TestKeyCompletesWhatWasNotPublished(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	first := mustSend(t, s, keyed("bob", "k"), "body")
	if err := os.Rename(m.file(New, first), m.tmpFile(first, "0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	r, err := send(s, keyed("bob", "k"), "body")
	if err != nil || r.ID != first || r.Outcome != Queued {
		t.Errorf("%+v, %v", r, err)
	}
	wantFiles(t, m, "new", string(first))
}

// The key is answered as long as anything remembers the id.
func TestKeyOutlivesItsHandoff(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	first := mustSend(t, s, keyed("bob", "k"), "body")
	takeAll(t, m)
	letGo(t, m, first)
	for _, forget := range []string{"nothing", "the registry"} {
		if forget == "the registry" {
			if err := os.Remove(s.idFile(first)); err != nil {
				t.Fatal(err)
			}
		}
		r, err := send(s, keyed("bob", "k"), "body")
		if err != nil || r.ID != first || r.Outcome != Delivered {
			t.Errorf("without %s: %+v, %v", forget, r, err)
		}
		_, err = send(s, keyed("bob", "k"), "other")
		wantErr(t, err, ErrConflict)
	}
}

// A power cut must not leave the handoff without its key: the key is durable
// first.
func TestKeyIsDurableBeforeItsHandoff(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	var synced []string
	s.sys.Sync = func(f *os.File) error { synced = append(synced, f.Name()); return nil }
	s.setModes()
	mustSend(t, s, keyed("bob", "k"), "body")
	key, queued := slices.Index(synced, s.keyDir()), slices.Index(synced, mailbox(t, s, "bob").placeDir(New))
	if key < 0 || queued < key {
		t.Errorf("synced in this order: %q", synced)
	}
}

// What could not be delivered leaves no key behind.
func TestKeyOfWhatWasNotDelivered(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	if err := os.RemoveAll(m.placeDir(New)); err != nil {
		t.Fatal(err)
	}
	w, err := s.NewDelivery(keyed("bob", "k"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.placeDir(New), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := w.Commit(t.Context()); err == nil {
		t.Errorf("delivered into a file: %+v", r)
	}
	if names, err := readNames(s.keyDir()); err != nil || len(names) > 0 {
		t.Errorf("left the keys %q, %v", names, err)
	}
}
