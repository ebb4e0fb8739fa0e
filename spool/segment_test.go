package spool

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// someFolded are n records of distinct ids, in no order.
func someFolded(t *testing.T, s *Spool, n int) []Folded {
	t.Helper()
	places, endings := []Place{Finished, Bad}, []Ending{"", Done, Blocked, NeedsInput}
	all := make([]Folded, n)
	for i := range all {
		all[i] = Folded{ID: newID(t, s), Last: lastOf(places[rand.IntN(len(places))], endings[rand.IntN(len(endings))])}
		for j := range all[i].Same {
			all[i].Same[j] = byte(rand.IntN(256))
		}
	}
	rand.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func TestSegmentFindsWhatWasFolded(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	for round := range 20 {
		all := someFolded(t, s, rand.IntN(200))
		before := slices.Clone(all)
		if err := m.Fold(all); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(all, before) {
			t.Fatalf("round %d: folding changed what it was given", round)
		}
		for _, want := range all {
			if got, found, err := m.folded(want.ID); err != nil || !found || got != want {
				t.Fatalf("round %d: %v, %t, %v; want %v", round, got, found, err, want)
			}
		}
		if got, found, err := m.folded(newID(t, s)); err != nil || found {
			t.Fatalf("round %d: found %v of an id that was never folded, %v", round, got, err)
		}
	}
}

func TestSegmentRecordsAreSorted(t *testing.T) {
	s := newSpool(t)
	all := someFolded(t, s, 100)
	b := encodeSegment(all)
	if len(b) != recordLen*len(all) {
		t.Fatalf("%d bytes for %d records", len(b), len(all))
	}
	var ids []ID
	for i := 0; i < len(b); i += recordLen {
		ids = append(ids, decodeFolded(b[i:i+recordLen]).ID)
	}
	if !slices.IsSorted(ids) {
		t.Error("the records are not in the order of their ids")
	}
}

// Of two records of one id the one that says more is kept, and found, whether
// they stand in one segment or in two.
func TestSegmentsOfOneIDMerge(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	seen := Folded{ID: newID(t, s), Last: lastSeen}
	done := Folded{ID: seen.ID, Same: [sameLen]byte{1}, Last: lastOf(Finished, Blocked)}
	for _, both := range [][]Folded{{seen, done}, {done, seen}, {done, done}} {
		b := encodeSegment(both)
		if len(b) != recordLen || decodeFolded(b) != done {
			t.Errorf("of %v is kept %v", both, decodeFolded(b))
		}
	}
	for _, one := range []Folded{seen, done, seen} {
		if err := m.Fold([]Folded{one}); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, err := m.folded(seen.ID); err != nil || got != done {
		t.Errorf("found %v, %v", got, err)
	}
}

func TestSegmentThatIsNoneSaysNothing(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	all := someFolded(t, s, 4)
	if err := m.Fold(all[:2]); err != nil {
		t.Fatal(err)
	}
	whole := encodeSegment(all[2:])
	put(t, filepath.Join(m.pastDir(), "cut.202611.x.seg"), whole[:len(whole)-1])
	put(t, filepath.Join(m.pastDir(), "no-segment"), whole)
	put(t, filepath.Join(m.pastDir(), ".syncthing.x.seg.tmp"), whole)
	if err := os.Mkdir(filepath.Join(m.pastDir(), "directory.seg"), privateDir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("cut.202611.x.seg", filepath.Join(m.pastDir(), "link.seg")); err != nil {
		t.Fatal(err)
	}
	for i, f := range all {
		if _, found, err := m.folded(f.ID); err != nil || found != (i < 2) {
			t.Errorf("record %d: found %t, %v", i, found, err)
		}
	}
}

func TestLastTellsPlaceAndEnding(t *testing.T) {
	for _, p := range []Place{Finished, Bad} {
		for _, e := range []Ending{"", Done, Blocked, NeedsInput} {
			if l := lastOf(p, e); l.Place() != p || l.Ending() != e || !l.Handled() {
				t.Errorf("%s %q is read back as %s %q, handled %t", p, e, l.Place(), l.Ending(), l.Handled())
			}
		}
	}
	if lastSeen.Handled() {
		t.Error("what was merely seen to be sent counts as handled")
	}
}

// A handoff that was let go is answered for by the segment alone.
func TestFoldedHandoffIsAnsweredFor(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	id := newID(t, s)
	d := note(id)
	mustSend(t, s, d, "body")
	takeAll(t, m)
	letGo(t, m, id)

	if l, err := s.Locate(id); err != nil || l.Report.Outcome != Delivered || l.Folded == nil {
		t.Errorf("located as %+v, %v", l, err)
	}
	l, err := s.Sent(context.Background(), "alice", Filter{}, false, "", 0)
	if err != nil || len(l.Handoffs) != 1 || l.Handoffs[0].Report.Outcome != Delivered {
		t.Errorf("sent: %+v, %v", l, err)
	}
	if r, err := send(s, d, "body"); err != nil || r.Outcome != Delivered || !r.Replayed {
		t.Errorf("sent again: %+v, %v", r, err)
	}
	_, err = send(s, d, "other")
	wantErr(t, err, ErrConflict)

	// Also where only the addressee's mailbox remembers it.
	if err := os.RemoveAll(s.idsDir()); err != nil {
		t.Fatal(err)
	}
	if l, err := s.Locate(id); err != nil || l.Report.Outcome != Delivered || l.Peer != "bob" {
		t.Errorf("without the registry: located as %+v, %v", l, err)
	}
	if _, _, err := s.OpenAny(id); !errors.Is(err, ErrNoHandoff) {
		t.Errorf("opened: %v", err)
	}
	if r, err := send(s, d, "body"); err != nil || !r.Replayed {
		t.Errorf("without the registry: sent again: %+v, %v", r, err)
	}
	_, err = send(s, d, "other")
	wantErr(t, err, ErrConflict)
	wantFiles(t, m, "new")
	wantFiles(t, m, "tmp")
}

// letGo folds a finished handoff and removes it, as gc does.
func letGo(t *testing.T, m *Mailbox, id ID) {
	t.Helper()
	e, err := m.standing(id)
	if err != nil {
		t.Fatal(err)
	}
	f, err := openFile(m.path(e), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := m.Fold([]Folded{{id, f.same(), lastOf(e.place, f.Ending)}}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(m.path(e)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(m.path(e)); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}
