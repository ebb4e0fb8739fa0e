package spool

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

const anID = "01kb9w6t3v8f5s7q2m4x0c1d9e"

func TestParseID(t *testing.T) {
	for _, s := range []string{anID, strings.Repeat("0", 26), "7" + strings.Repeat("z", 25)} {
		if id, err := ParseID(s); err != nil || string(id) != s {
			t.Errorf("%q: got %q, %v", s, id, err)
		}
	}
	for _, s := range []string{
		"", "..", "../x", "/etc", anID[:25], anID + "0", strings.ToUpper(anID), "8" + anID[1:], "z" + anID[1:],
		"01kb9w6t3v8f5s7q2m4x0c1di0", "01kb9w6t3v8f5s7q2m4x0c1dl0", "01kb9w6t3v8f5s7q2m4x0c1do0", "01kb9w6t3v8f5s7q2m4x0c1du0",
		anID[:25] + "\x00", anID[:25] + "/", anID[:23] + "ａ", " " + anID[1:],
	} {
		_, err := ParseID(s)
		wantErr(t, err, ErrID)
	}
}

func TestIDParts(t *testing.T) {
	for part, fits := range map[string]bool{anID: true, anID[:4]: true, anID[22:]: true, anID[:25]: true, anID[1:5]: false, "zzzz": false} {
		p, err := ParseIDPart(part)
		if err != nil || p.Fits(anID) != fits {
			t.Errorf("%q: %v, fits %t", part, err, p.Fits(anID))
		}
	}
	for _, s := range []string{"", "abc", "abcu", anID + "0", "8" + anID[1:], "01K", "../.", "01kb*"} {
		_, err := ParseIDPart(s)
		wantErr(t, err, ErrID)
	}
}

// The computed ids are part of the format: every host comes to the same.
func TestComputedIDs(t *testing.T) {
	for _, c := range []struct{ id, conclusion, misroute ID }{
		// sha256sum of "conclusion ID" and "misroute ID", 80 bits in base 32.
		{anID, "01kb9w6t3vjcr57wsyp7rr092r", "01kb9w6t3v81hk0cmhhjj63sjx"},
		{"00000000000000000000000000", "00000000004nne6vg9x2jq2pwf", "0000000000bvqfmj6gznj955mq"},
	} {
		if got := c.id.Conclusion(); got != c.conclusion {
			t.Errorf("conclusion of %s: %s, want %s", c.id, got, c.conclusion)
		}
		if got := c.id.Misroute(); got != c.misroute {
			t.Errorf("misroute of %s: %s, want %s", c.id, got, c.misroute)
		}
	}
}

func TestIDsRise(t *testing.T) {
	sys := machine(here)
	// A clock that stands still, and then steps back.
	at := time.UnixMilli(1_800_000_000_000)
	sys.Now = func() time.Time { return at }
	var ids []ID
	for i := range 1000 {
		if i == 500 {
			at = at.Add(-time.Hour)
		}
		id, err := sys.NewID()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseID(string(id)); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != 1000 {
		t.Error("the ids of one process do not rise")
	}
}

func TestIDsAreDistinctAmongGoroutines(t *testing.T) {
	sys := machine(here)
	var all [8][]ID
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			for range 500 {
				id, err := sys.NewID()
				if err != nil {
					t.Error(err)
				}
				all[i] = append(all[i], id)
			}
		})
	}
	wg.Wait()
	ids := slices.Concat(all[:]...)
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 4000 {
		t.Errorf("%d distinct ids of 4000", n)
	}
}

// Where no larger entropy is left in a millisecond, the next one is used.
func TestIDsRiseOutOfEntropy(t *testing.T) {
	sys := machine(here)
	at := time.UnixMilli(1_800_000_000_000)
	sys.Now = func() time.Time { return at }
	sys.Rand = iotest.ErrReader(io.EOF)
	if _, err := sys.NewID(); !errors.Is(err, io.EOF) {
		t.Errorf("without random bytes: %v", err)
	}
	sys.Rand = io.MultiReader(strings.NewReader(strings.Repeat("\xff", 10)), strings.NewReader(strings.Repeat("\x00", 100)))
	first, err := sys.NewID()
	if err != nil {
		t.Fatal(err)
	}
	next, err := sys.NewID()
	if err != nil || next <= first || next[:idTimeLen] == first[:idTimeLen] {
		t.Errorf("%s after %s, %v", next, first, err)
	}
	third, err := sys.NewID()
	if want := next[:idLen-1] + "1"; err != nil || third != want {
		t.Errorf("%s, want %s, %v", third, want, err)
	}
}
