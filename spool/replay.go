package spool

import (
	"fmt"
)

// Sending again under an id or a key that was used: the first handoff is
// answered for, if it is the same, and completed if it was never published.

// replay answers what became of a handoff that was sent before under this id,
// and completes one that was never published.
func (w *Delivery) replay() (Report, error) {
	first, err := w.s.lookup(w.h.ID)
	if err != nil {
		return w.nothing(), err
	}
	return w.replayOf(first)
}

// replayOf is replay for what the registry holds.
func (w *Delivery) replayOf(first *registered) (Report, error) {
	r := w.nothing()
	if !first.Same(&w.h) {
		return r, conflict(&first.Header)
	}
	r.ID, r.Replayed = first.ID, true
	found, err := w.m.find(first.ID)
	if err != nil {
		r.Outcome = Unknown
		return r, Because(ErrUnknown, "it was sent before, but where it is now cannot be told: "+err.Error())
	}
	if len(found) == 0 && w.shut != nil {
		if tmp, err := w.m.orphan(first); tmp != "" || err != nil {
			return w.nothing(), w.shut // written, and never let in
		}
	} else if len(found) == 0 {
		published, err := w.m.complete(first, w.place)
		if published {
			return w.m.settle(&first.Header, w.place, r)
		}
		if err != nil {
			return r, err
		}
	}
	if len(found) > 0 && rightmost(found).place == w.place {
		return w.m.settle(&first.Header, w.place, r) // a crash may have come before the sync
	}
	return w.m.outcome(first.ID, r)
}

func conflict(first *Header) error {
	return Because(ErrConflict, fmt.Sprintf("id %s is already there with other content: a %s from %s to %s, %d bytes", first.ID, first.Kind, first.From, first.To, first.Size))
}

// complete publishes a handoff that was registered and not published, if its
// temp file is still there.
func (m *Mailbox) complete(r *registered, p Place) (published bool, err error) {
	tmp, err := m.orphan(r)
	if err != nil || tmp == "" {
		return false, err
	}
	f, err := openFile(tmp, r.ID)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Verify(); err != nil {
		return false, err
	}
	// Its writer is gone, or it would hold the lock of this id that we hold.
	if err := m.publish(f.f, tmp, r.ID, p); err != nil {
		return false, err
	}
	return true, nil
}

// foundUnregistered deals with an id that a place has although the registry had
// not: it was sent from another host, or the registry was lost.
func (w *Delivery) foundUnregistered(found []entry, err error) (Report, error) {
	r := w.nothing()
	if uerr := w.s.unregister(w.h.ID); err == nil {
		err = uerr
	}
	if err != nil {
		return r, err
	}
	if len(found) == 0 {
		return r, Because(ErrLocked, "a file of its id stood in new/ for a moment")
	}
	path := w.m.path(rightmost(found))
	first, err := openFile(path, w.h.ID)
	if err != nil {
		return r, err
	}
	defer func() { _ = first.Close() }()
	if !first.Same(&w.h) {
		return r, conflict(&first.Header)
	}
	_ = w.s.register(&first.Header, path) // a convenience: the places are the truth
	r.Replayed = true
	return w.m.outcome(w.h.ID, r)
}

// remembered is what a segment, the addressee's or this host's, knows of the id.
func (w *Delivery) remembered() (Folded, bool, error) {
	return w.rememberedOf(w.h.ID)
}

func (w *Delivery) rememberedOf(id ID) (Folded, bool, error) {
	before, found, err := w.m.folded(id)
	if err != nil || found {
		return before, found, err
	}
	return w.s.foldedHere(id)
}

// foundFolded deals with an id that a segment remembers.
func (w *Delivery) foundFolded(before Folded, err error) (Report, error) {
	r := w.nothing()
	if uerr := w.s.unregister(w.h.ID); err == nil {
		err = uerr
	}
	if err != nil {
		return r, err
	}
	if before.Same != w.h.same() {
		return r, errFoldedOtherwise(w.h.ID)
	}
	r.Replayed = true
	return w.m.outcome(w.h.ID, r)
}
