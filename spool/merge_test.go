package spool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A clocked is a spool whose clock a test moves.
type clocked struct {
	*Spool
	now time.Time
}

func newClocked(t *testing.T, peers ...Name) *clocked {
	t.Helper()
	c := &clocked{newSpool(t, peers...), time.Now()}
	c.sys.Now = func() time.Time { return c.now }
	return c
}

// segmentsOf are the names of bob's segments, sorted.
func segmentsOf(t *testing.T, m *Mailbox) []string {
	t.Helper()
	names, err := readNames(m.pastDir())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

const settle = 36 * time.Hour

// A month of daily runs: everything folded is found at any time, and the number
// of segments stays small.
func TestMergesOfAMonth(t *testing.T) {
	s := newClocked(t, "bob")
	m := worked(t, s.Spool)
	r := reaping(t, s.Spool)
	s.now = time.Date(time.Now().Year()+1, 3, 1, 4, 17, 0, 0, time.UTC)
	var all []Folded
	for day := range 28 {
		some := someFolded(t, s.Spool, 5)
		all = append(all, some...)
		if err := m.Fold(some); err != nil {
			t.Fatal(err)
		}
		// The file's times are the machine's: make them the run's.
		for _, name := range segmentsOf(t, m) {
			path := filepath.Join(m.pastDir(), name)
			if info, err := os.Lstat(path); err == nil && info.ModTime().Before(s.now.AddDate(-1, 0, 0)) {
				if err := os.Chtimes(path, s.now, s.now); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := r.MergePast("bob", settle); err != nil {
			t.Fatal(err)
		}
		if n := len(segmentsOf(t, m)); n > 8 {
			t.Fatalf("day %d: %d segments", day, n)
		}
		for _, f := range all {
			if got, found, err := m.folded(f.ID); err != nil || !found || got != f {
				t.Fatalf("day %d: %+v is remembered as %+v, %t, %v", day, f, got, found, err)
			}
		}
		s.now = s.now.AddDate(0, 0, 1)
	}
}

// parts writes one segment for each, and is their names.
func partsOf(t *testing.T, m *Mailbox, all ...[]Folded) []string {
	t.Helper()
	for _, f := range all {
		if err := m.Fold(f); err != nil {
			t.Fatal(err)
		}
	}
	return segmentsOf(t, m)
}

// A merged segment stands beside its parts until it has had time to travel.
func TestPartsGoAtALaterRun(t *testing.T) {
	s := newClocked(t, "bob")
	m := worked(t, s.Spool)
	r := reaping(t, s.Spool)
	all := someFolded(t, s.Spool, 6)
	parts := partsOf(t, m, all[:2], all[2:5], all[5:])
	for _, want := range []struct {
		later time.Duration
		did   string
		n     int
	}{{0, "merged", 4}, {settle - time.Minute, "", 4}, {settle + time.Minute, "removed segments that a merged one holds", 1}, {settle * 2, "", 1}} {
		s.now = time.Now().Add(want.later)
		did, err := r.MergePast("bob", settle)
		names := segmentsOf(t, m)
		if did != want.did || err != nil || len(names) != want.n {
			t.Errorf("after %v: %q, %v, %d segments; want %q, %d", want.later, did, err, len(names), want.did, want.n)
		}
		if want.n == 1 && slices.Contains(parts, names[0]) {
			t.Error("a part is what is left")
		}
	}
}

// Of two segments about one id the one that says more is never given up for the
// other.
func TestMergeKeepsWhatSaysMore(t *testing.T) {
	for _, lessFirst := range []bool{true, false} {
		s := newClocked(t, "bob")
		m := worked(t, s.Spool)
		r := reaping(t, s.Spool)
		id := newID(t, s.Spool)
		less, more := Folded{ID: id, Last: lastDone}, Folded{ID: id, Same: [sameLen]byte{1}, Last: lastOf(Finished, Blocked)}
		if lessFirst {
			partsOf(t, m, []Folded{less}, []Folded{more})
		} else {
			partsOf(t, m, []Folded{more}, []Folded{less})
		}
		for range 3 {
			s.now = s.now.Add(settle + time.Hour)
			if _, err := r.MergePast("bob", settle); err != nil {
				t.Fatal(err)
			}
			if got, _, err := m.folded(id); err != nil || got != more {
				t.Fatalf("remembered as %+v, %v", got, err)
			}
		}
		if n := len(segmentsOf(t, m)); n != 1 {
			t.Errorf("%d segments", n)
		}
	}
}

// Nothing is merged but this host's own segments of one month that are whole.
func TestWhatIsNotMerged(t *testing.T) {
	s := newClocked(t, "bob")
	m := worked(t, s.Spool)
	r := reaping(t, s.Spool)
	all := someFolded(t, s.Spool, 2)
	one := partsOf(t, m, all)[0]
	month := strings.Split(one, ".")[1]
	b, err := os.ReadFile(filepath.Join(m.pastDir(), one))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		string(there) + "." + month + "." + string(newID(t, s.Spool)) + ".seg",
		string(here) + ".200001." + string(newID(t, s.Spool)) + ".seg",
		strings.TrimSuffix(one, ".seg") + ".sync-conflict-20261130-170000-ABCDEFG.seg",
	} {
		put(t, filepath.Join(m.pastDir(), name), b)
	}
	torn := string(here) + "." + month + "." + string(newID(t, s.Spool)) + ".seg"
	put(t, filepath.Join(m.pastDir(), torn), b[:recordLen+1])
	before := segmentsOf(t, m)
	s.now = s.now.Add(2 * settle)
	if did, err := r.MergePast("bob", settle); did != "" || err != nil {
		t.Errorf("%q, %v", did, err)
	}
	if after := segmentsOf(t, m); !slices.Equal(after, before) {
		t.Errorf("left %q of %q", after, before)
	}
}

// A month that is over is merged under its own name: it expires in its time.
func TestMergeKeepsTheMonth(t *testing.T) {
	s := newClocked(t, "bob")
	m := worked(t, s.Spool)
	r := reaping(t, s.Spool)
	all := someFolded(t, s.Spool, 4)
	partsOf(t, m, all[:2], all[2:])
	month := s.now.UTC().Format(segMonth)
	s.now = s.now.AddDate(0, 2, 0)
	for range 2 {
		if _, err := r.MergePast("bob", settle); err != nil {
			t.Fatal(err)
		}
		s.now = s.now.Add(2 * settle)
	}
	names := segmentsOf(t, m)
	if len(names) != 1 || !strings.Contains(names[0], "."+month+".") {
		t.Errorf("%q", names)
	}
}
