package spool

import (
	"context"
	"slices"
	"sync"
	"testing"
)

// pages walks a mailbox page by page and returns every id in the order shown.
func pages(t *testing.T, m *Mailbox, places []Place, limit int) (all []ID) {
	t.Helper()
	after := ID("")
	for {
		l, err := m.List(context.Background(), places, Filter{}, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Notes) > 0 {
			t.Errorf("noted: %q", l.Notes)
		}
		for _, h := range l.Handoffs {
			after = h.ID
			all = append(all, h.ID)
		}
		if !l.More {
			return all
		}
	}
}

var unfinished = []Place{New, Cur, Work}

// Senders add, takers remove: every page goes on after the last, so that what
// was there all the time is shown once, and nothing twice.
func TestPagesWhileOthersWork(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	const staying, taken, sentBeside = 1500, 300, 500
	var stay []ID
	for i := range staying + taken {
		id := mustSend(t, s, note(""), "")
		if i%(staying/taken+1) != 0 {
			stay = append(stay, id)
		}
	}
	var others sync.WaitGroup
	others.Go(func() { takeAllBut(t, m, stay) })
	var shown []ID
	for range 4 {
		// So many, and no more: a sender without an end outruns the pages.
		others.Go(func() { sendMany(t, s, sentBeside) })
		shown = pages(t, m, unfinished, 1000)
		if !slices.IsSorted(shown) || len(slices.Compact(slices.Clone(shown))) != len(shown) {
			t.Error("an id is shown twice, or out of order")
		}
		missing := 0
		for _, id := range stay {
			if _, found := slices.BinarySearch(shown, id); !found {
				missing++
			}
		}
		if missing > 0 {
			t.Errorf("%d of %d ids were not shown", missing, len(stay))
		}
	}
	others.Wait()
}

func sendMany(t *testing.T, s *Spool, n int) {
	for range n {
		if _, err := send(s, note(""), ""); err != nil {
			t.Error(err)
			return
		}
	}
}

// takeAllBut takes what was sent before stay's last, and leaves stay.
func takeAllBut(t *testing.T, m *Mailbox, stay []ID) {
	l, err := m.scan(New)
	if err != nil {
		t.Error(err)
		return
	}
	for _, e := range l.entries {
		if _, stays := slices.BinarySearch(stay, e.id); stays || e.id > stay[len(stay)-1] {
			continue
		}
		c, err := m.ClaimID(context.Background(), e.id)
		if err == nil {
			err = c.Taken("")
			c.Release()
		}
		if err != nil {
			t.Error(err)
			return
		}
	}
}

// What a receiver moves on while a list is made is in the list all the same.
func TestListMissesNoMover(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	const n = 1000
	for range n {
		mustSend(t, s, note(""), "")
	}
	var mover sync.WaitGroup
	mover.Go(func() {
		r, err := m.Receive(context.Background(), ReceiverOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		for announceAll(t, r) > 0 {
		}
	})
	for range 10 {
		if got := pages(t, m, unfinished, 0); len(got) != n || len(slices.Compact(slices.Clone(got))) != n {
			t.Errorf("%d ids listed, want %d", len(got), n)
		}
	}
	mover.Wait()
}

// Handoffs that went on to another place after they were scanned are listed
// there, and those that went where nobody looks are not.
func TestListedWhereItStandsByNow(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	id := mustSend(t, s, note(""), "")
	scanned := entry{id, New, string(id)}
	for _, c := range []struct {
		p    Place
		want bool
	}{{New, true}, {Cur, true}, {Work, true}, {Finished, false}} {
		e, _, err := m.at(New, id)
		if c.p != New {
			found, ferr := m.find(id)
			if ferr != nil {
				t.Fatal(ferr)
			}
			e, err = rightmost(found), retryRenameTo(m, rightmost(found), c.p)
		}
		if err != nil {
			t.Fatal(e, err)
		}
		h, _, err := m.listedNow(scanned, unfinished, s.sys.Now())
		if err != nil || (h != nil) != c.want || h != nil && h.Place != c.p {
			t.Errorf("in %s/: listed as %+v, %v", c.p, h, err)
		}
	}
}

func retryRenameTo(m *Mailbox, e entry, p Place) error {
	return m.retryRename(m.path(e), m.file(p, e.id))
}
