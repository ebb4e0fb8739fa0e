package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// A Listed is a handoff as a list shows it: its header, where it stands, and
// what this host knows of the work on it.
type Listed struct {
	Header
	Peer  Name // whose mailbox
	Place Place
	Path  string
	Run   *Run
}

// A List is one page of what stands in a mailbox.
type List struct {
	Handoffs []Listed
	More     bool     // the limit cut it short
	Notes    []string // what was passed over, one line each
	Strays   int
}

// List reads what stands in places and is meant by f, by id, at most limit of
// them (0: all), beginning after the id after. It locks and moves nothing. An
// entry that cannot be read is noted, never an end. Digests are not checked.
func (m *Mailbox) List(ctx context.Context, places []Place, f Filter, after ID, limit int) (*List, error) {
	l := &List{}
	began := time.Now()
	fromLeft := slices.DeleteFunc(slices.Clone(Places), func(p Place) bool { return !slices.Contains(places, p) })
	found, err := m.scan(fromLeft...)
	if err != nil {
		return nil, err
	}
	l.Strays = len(found.strays)
	next := oldestFirst(found.entries, after)
	var e entry
	for scanned, ok := next(); ok; scanned, ok = next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if scanned.id == e.id && !scanned.place.rightOf(e.place) {
			continue // a copy of what was listed, or the same that has moved on
		}
		var h *Listed
		var err error
		h, e, err = m.listedNow(scanned, places, began)
		switch {
		case h == nil && err == nil:
			continue
		case err != nil && (errors.Is(err, ErrIncomplete) || errors.Is(err, ErrMalformed) || notRegular(err)):
			l.Notes = append(l.Notes, string(e.place)+"/"+e.file+": "+plain(err))
			continue
		case err != nil:
			return nil, &Error{Op: "read", Name: string(e.place) + "/" + e.file, Err: err}
		}
		if !f.Match(&h.Header) {
			continue
		}
		if limit > 0 && len(l.Handoffs) == limit {
			l.More = true
			break
		}
		l.Handoffs = append(l.Handoffs, *h)
	}
	if l.Strays > 0 {
		l.Notes = append(l.Notes, strayNote(l.Strays))
	}
	return l, nil
}

// oldestFirst gives the entries after an id in the order of their ids, those
// of one id from left to right. Only as much is sorted as is asked for: a page
// of a large mailbox costs one pass.
func oldestFirst(entries []entry, after ID) func() (entry, bool) {
	heap := slices.DeleteFunc(entries, func(e entry) bool { return e.id <= after })
	makeHeap(heap)
	return func() (e entry, ok bool) {
		if ok = len(heap) > 0; ok {
			e, heap = popOldest(heap)
		}
		return e, ok
	}
}

func makeHeap(entries []entry) {
	for i := len(entries)/2 - 1; i >= 0; i-- {
		sink(entries, i)
	}
}

// popOldest is the first of a heap, and the heap without it.
func popOldest(heap []entry) (entry, []entry) {
	e, last := heap[0], len(heap)-1
	heap[0] = heap[last]
	heap = heap[:last]
	sink(heap, 0)
	return e, heap
}

// sink restores the order of a heap below i.
func sink(heap []entry, i int) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && heap[child+1].before(heap[child]) {
			child++
		}
		if !heap[child].before(heap[i]) {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// listedNow reads the header of what was scanned as e where it stands by now,
// at: whoever moved it may have been faster than the scan of the place it went
// to. It is nil where that is none of places.
func (m *Mailbox) listedNow(e entry, places []Place, since time.Time) (h *Listed, at entry, err error) {
	for range Places { // each turn it can have gone one further
		right, found, err := m.toTheRight(e, &glance{since: since})
		if err != nil {
			return nil, e, err
		}
		if found {
			e = right
		}
		if !slices.Contains(places, e.place) {
			break
		}
		h, err := m.listed(e)
		if !errors.Is(err, fs.ErrNotExist) {
			return h, e, err
		}
		since = time.Now()
	}
	return nil, e, nil
}

// before is the order of a list: by id, and of one id from left to right.
func (e entry) before(o entry) bool {
	return e.id < o.id || e.id == o.id && o.place.rightOf(e.place)
}

// listed reads the header of e.
func (m *Mailbox) listed(e entry) (*Listed, error) {
	f, err := openFile(m.path(e), e.id)
	if err != nil {
		return nil, err
	}
	_ = f.Close()
	if err := m.s.original(f); err != nil {
		return nil, err
	}
	l := &Listed{Header: f.Header, Peer: m.name, Place: e.place, Path: m.path(e)}
	if r, found := m.s.RunOf(e.id); found {
		l.Run = &r
	}
	return l, nil
}

// Resolve is the one id in the mailbox that part fits, whatever its place. The
// errors are ErrNoHandoff, and ErrAmbiguous naming the candidates.
func (m *Mailbox) Resolve(part IDPart) (ID, error) {
	if id, whole := part.Whole(); whole {
		return id, nil
	}
	fits, err := m.fits(part)
	if err != nil {
		return "", err
	}
	return only(part, fits)
}

func (m *Mailbox) fits(part IDPart) ([]ID, error) {
	l, err := m.scan(Places...)
	if err != nil {
		return nil, err
	}
	var ids []ID
	for _, e := range l.entries {
		if part.Fits(e.id) {
			ids = append(ids, e.id)
		}
	}
	return ids, nil
}

// only is the one id of ids, which may name it several times.
func only(part IDPart, ids []ID) (ID, error) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	switch len(ids) {
	case 0:
		return "", &Error{Op: "find", Name: string(part), Err: ErrNoHandoff}
	case 1:
		return ids[0], nil
	}
	text := "it fits"
	for i, id := range ids {
		if i == maxCandidates {
			text += fmt.Sprintf(" and %d more", len(ids)-i)
			break
		}
		text += " " + string(id)
	}
	return "", &Error{Op: "find", Name: string(part), Err: Because(ErrAmbiguous, text)}
}

const maxCandidates = 5

// IDs is every id that stands in the mailbox, bad/ excepted.
func (m *Mailbox) IDs() (map[ID]bool, error) {
	l, err := m.scan(New, Cur, Work, Finished)
	if err != nil {
		return nil, err
	}
	all := make(map[ID]bool)
	for _, e := range l.entries {
		all[e.id] = true
	}
	return all, nil
}

// Look is where id stands, as a list shows it; nil where it stands nowhere, or
// is not whole.
func (m *Mailbox) Look(id ID) (*Listed, error) {
	found, err := m.find(id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	h, err := m.listed(rightmost(found))
	if errors.Is(err, fs.ErrNotExist) || passIncomplete(err) == nil {
		err = nil
	}
	return h, err
}
