package spool

import (
	"os"
)

// settle makes a publish durable and reads from the disk what became of it.
func (m *Mailbox) settle(h *Header, p Place, r Report) (Report, error) {
	r.Outcome = Unknown
	if m.batch != nil {
		m.batch.unsettled(m.placeDir(p))
		return r, nil
	}
	if err := m.syncPlace(p); err != nil {
		return r, unsure(err)
	}
	return m.settled(h.ID, p, r)
}

// unsure is about what was published, and could not be synced.
func unsure(err error) error {
	return Because(ErrUnknown, "it is written, but whether it is durable cannot be told: "+err.Error())
}

// settled is outcome for what was just published in p: where it still stands
// there, one look is enough.
func (m *Mailbox) settled(id ID, p Place, r Report) (Report, error) {
	e := entry{id, p, string(id)}
	if _, err := os.Lstat(m.path(e)); err == nil {
		r.Outcome, r.Detail = m.outcomeAt(e)
		return r, nil
	}
	return m.outcome(id, r)
}

// Outcome reads from the disk what became of id, which is known to have been
// sent to this mailbox. The error is ErrUnknown where it cannot be told.
func (m *Mailbox) Outcome(id ID) (Report, error) {
	return m.outcome(id, Report{ID: id, To: m.name})
}

// outcome reads from the disk what became of id.
func (m *Mailbox) outcome(id ID, r Report) (Report, error) {
	found, err := m.find(id)
	if err != nil {
		return m.outcomeUnknown(r, "where it is now cannot be told: "+err.Error())
	}
	e := entry{}
	if len(found) > 0 {
		e = rightmost(found)
	}
	// What a sync tool brought back into new/ may have been let go.
	if e.place == "" || e.place == New || e.place == Cur {
		before, folded, err := m.folded(id)
		if err != nil {
			return m.outcomeUnknown(r, "where it is now cannot be told: "+err.Error())
		}
		if folded && before.Last.Handled() {
			return before.report(r), nil
		}
	}
	if e.place == "" {
		if found, err = m.findTwice(id); err != nil || len(found) == 0 {
			return m.outcomeNowhere(r, err)
		}
		e = rightmost(found)
	}
	r.Outcome, r.Detail = m.outcomeAt(e)
	return r, nil
}

func (m *Mailbox) outcomeUnknown(r Report, why string) (Report, error) {
	r.Outcome = Unknown
	return r, Because(ErrUnknown, "it is written, but "+why)
}

// outcomeNowhere is about an id that is in no place, after two looks.
func (m *Mailbox) outcomeNowhere(r Report, err error) (Report, error) {
	if err != nil {
		return m.outcomeUnknown(r, "where it is now cannot be told: "+err.Error())
	}
	// gc may have let it go between the looks.
	before, folded, err := m.folded(r.ID)
	switch {
	case err != nil:
		return m.outcomeUnknown(r, "where it is now cannot be told: "+err.Error())
	case folded && before.Last.Handled():
		return before.report(r), nil
	}
	r.Outcome = Unknown
	return r, Because(ErrUnknown, "it was written, and is now in no place of the mailbox")
}

// outcomeAt is what the place of a handoff says of it, and for a refusal why.
func (m *Mailbox) outcomeAt(e entry) (Outcome, string) {
	switch e.place {
	case New:
		if p, err := m.Peer(); err == nil && p.Hold {
			return Held, ""
		} else if err == nil && p.RemovedAt != nil {
			return Refused, "the peer was removed"
		}
		return Queued, ""
	case Bad:
		return Refused, m.reason(e.id)
	}
	return Delivered, ""
}
