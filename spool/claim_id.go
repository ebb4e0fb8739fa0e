package spool

import (
	"context"
	"errors"
)

// ClaimID claims one handoff by its id, to hand it out. Beside the errors of
// the format: ErrNoHandoff, ErrLocked, ErrTaken for what somebody has taken or
// finished, ErrRefused for what was set aside, ErrConcluded for a task that
// has ended.
func (m *Mailbox) ClaimID(ctx context.Context, id ID) (*Claim, error) {
	e, err := m.standing(id)
	if err != nil {
		return nil, err
	}
	offered, err := m.s.released(id)
	switch {
	case e.place == Finished:
		return nil, Because(ErrTaken, "it is finished: it stands in done/")
	case err != nil:
		return nil, err
	case e.place == Work && !offered:
		return nil, &Error{Op: "take", Name: string(id), Err: Because(ErrTaken, "it was taken"+m.s.takenBy(id)),
			Hint: "'xfer-inbox --as " + string(m.name) + " release " + string(id) + "' offers it again"}
	case e.place == New:
		if err := m.letsGo(); err != nil {
			return nil, err
		}
	}
	c, err := m.claim(e)
	if err == nil {
		if err = c.ready(ctx); err == nil {
			return c, nil
		}
		c.Release()
	}
	return nil, asked(err)
}

// letsGo is nil unless the mailbox is on hold: what is queued stays.
func (m *Mailbox) letsGo() error {
	p, err := m.Peer()
	if err == nil && p.Hold {
		err = &Error{Err: Because(ErrLocked, "its mailbox is on hold"), Hint: "'xfer-inbox --as " + string(m.name) + " unhold' lets it be taken"}
	}
	return err
}

// standing is where id counts as standing in the mailbox. The error is
// ErrNoHandoff, or ErrRefused with the reason for what was set aside.
func (m *Mailbox) standing(id ID) (entry, error) {
	found, err := m.findTwice(id)
	if err != nil {
		return entry{}, err
	}
	if len(found) == 0 {
		return entry{}, ErrNoHandoff
	}
	e := rightmost(found)
	if e.place == Bad {
		return entry{}, &Error{Err: Because(ErrRefused, "it was set aside: "+m.reason(id)),
			Hint: "'xfer-inbox show --body " + string(id) + "' prints its body, for 'xfer-send' to send it again"}
	}
	return e, nil
}

// asked is what a passing state of a handoff is to somebody who asked for this
// very one.
func asked(err error) error {
	switch {
	case errors.Is(err, errBusy):
		return Because(ErrLocked, errBusy.Error())
	case errors.Is(err, errAwaited):
		return Because(ErrLocked, errAwaited.Error())
	case errors.Is(err, errGone):
		return Because(ErrLocked, "it is being moved")
	case errors.Is(err, errGhost):
		return Because(ErrTaken, err.Error())
	case errors.Is(err, errEnded):
		return Because(ErrConcluded, err.Error())
	case errors.Is(err, errAside):
		return Because(ErrMalformed, err.Error())
	case notRegular(err):
		return Because(ErrMalformed, "not a regular file")
	}
	return err
}

func (s *Spool) takenBy(id ID) string {
	r, found := s.RunOf(id)
	if !found {
		return ""
	}
	by := ""
	if r.TakenBy != "" {
		by = " by " + r.TakenBy
	}
	return by + " at " + r.TakenAt.UTC().Format("2006-01-02T15:04:05Z")
}
