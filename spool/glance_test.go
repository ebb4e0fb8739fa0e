package spool

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"testing"
)

// Of many that are claimed together each is looked for in every place, as if
// it were alone.
func TestGroupMeetsCopies(t *testing.T) {
	const many = 3 * leastGlanced
	m := stock(t, many)
	entries, err := m.scan(New)
	if err != nil {
		t.Fatal(err)
	}
	byID(entries.entries)
	var ids []ID
	for _, e := range entries.entries {
		ids = append(ids, e.id)
	}
	copies := map[ID]string{
		ids[1]:  m.file(Finished, ids[1]),
		ids[7]:  m.file(Work, ids[7]),
		ids[20]: m.file(Cur, ids[20]) + ":2,S",
		ids[30]: m.file(Bad, ids[30]),
	}
	for id, path := range copies {
		text, err := os.ReadFile(m.file(New, id))
		if err != nil {
			t.Fatal(err)
		}
		put(t, path, text)
	}
	f, err := openFile(m.file(New, ids[40]), ids[40])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := m.Fold([]Folded{{ID: ids[40], Same: f.same(), Last: lastDone}}); err != nil {
		t.Fatal(err)
	}
	q, err := m.Queue(Filter{})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := q.NextGroup(context.Background(), many)
	if err != nil {
		t.Fatal(err)
	}
	var got []ID
	for _, c := range claims {
		if c.e.place == New {
			got = append(got, c.ID)
		}
		if body, err := io.ReadAll(c.Body()); err != nil || string(body) != benchBody {
			t.Errorf("%s: %q, %v", c.ID, body, err)
		}
		c.Release()
	}
	want := slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return copies[id] != "" || id == ids[40] })
	if !slices.Equal(got, want) {
		t.Errorf("claimed in new/ %d of %d, want all but %d", len(got), len(ids), len(copies)+1)
	}
	if !slices.IsSortedFunc(claims, func(a, b *Claim) int { return cmp.Compare(a.ID, b.ID) }) {
		t.Error("not in the order of ids")
	}
}
