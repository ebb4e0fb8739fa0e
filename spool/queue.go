package spool

import (
	"context"
	"errors"
	"io"
)

// A Queue is what a reader works off: one scan of what is due in a mailbox,
// oldest id first. What cannot be handed out is passed over and noted, never
// an end.
type Queue struct {
	m       *Mailbox
	filter  Filter
	entries []entry
	strays  int
	busy    int
	notes   []string
	left    []entry // what was left where it is, not whole or no handoff
}

// Queue scans the mailbox for what f means: what is queued, what a receiver
// has announced, and tasks that were released. The caller has asked MayWork.
func (m *Mailbox) Queue(f Filter) (*Queue, error) {
	q := &Queue{m: m, filter: f}
	peer, err := m.Peer()
	if err != nil {
		return nil, err
	}
	places := []Place{New, Cur}
	if peer.Hold {
		places = places[1:] // new/ is left as it is
	}
	for _, p := range places {
		l, err := m.scan(p)
		if err != nil {
			return nil, err
		}
		q.entries = append(q.entries, l.entries...)
		q.strays += len(l.strays)
	}
	ids, err := m.s.releasedIDs()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if e, _, err := m.at(Work, id); err == nil {
			q.entries = append(q.entries, e)
		}
	}
	byID(q.entries)
	return q, nil
}

// Notes are lines about what was passed over since the last call, and Busy how
// many of it another process had locked.
func (q *Queue) Notes() []string {
	notes := q.notes
	if q.strays > 0 {
		notes = append(notes, strayNote(q.strays))
	}
	q.notes, q.strays = nil, 0
	return notes
}

// Busy is how many entries another process had locked when Next came to them.
func (q *Queue) Busy() int { return q.busy }

// Next claims the next one: locked, whole, its digest checked, not handled
// before, not awaited by another process, and if a task, not concluded. At the
// end the error is io.EOF.
func (q *Queue) Next(ctx context.Context) (*Claim, error) {
	for len(q.entries) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := q.entries[0]
		q.entries = q.entries[1:]
		c, err := q.m.claim(e)
		if err == nil {
			if !q.filter.Match(&c.Header) {
				c.Release()
				continue
			}
			err = c.ready(ctx)
		}
		if err == nil {
			return c, nil
		}
		if c != nil {
			c.Release()
		}
		if err := q.pass(e, err); err != nil {
			return nil, err
		}
	}
	return nil, io.EOF
}

// pass notes why e is passed over; what is wrong beyond e is returned.
func (q *Queue) pass(e entry, err error) error {
	switch {
	case errors.Is(err, errGone), errors.Is(err, errAwaited):
	case errors.Is(err, errBusy):
		q.busy++
	case passable(err):
		if errors.Is(err, ErrIncomplete) || notRegular(err) {
			q.left = append(q.left, e)
		}
		q.notes = append(q.notes, string(e.place)+"/"+e.file+": "+plain(err))
	default:
		return &Error{Op: "read", Name: string(e.place) + "/" + e.file, Err: err}
	}
	return nil
}

// passable tells whether err concerns one entry and was dealt with, or is to be
// left as it is.
func passable(err error) bool {
	return errors.Is(err, errGhost) || errors.Is(err, errAside) || errors.Is(err, errEnded) ||
		errors.Is(err, ErrIncomplete) || notRegular(err)
}

// plain is err without the path that a system error names: the caller names
// the entry.
func plain(err error) string {
	if notRegular(err) {
		return "not a regular file; left alone"
	}
	if errors.Is(err, ErrIncomplete) {
		return "incomplete: " + err.Error()
	}
	return err.Error()
}

var (
	errAwaited = errors.New("another process awaits it")
	errEnded   = errors.New("already concluded")
)

// ready makes sure that a claimed handoff may be handed out. A task that was
// concluded is moved to done/ instead (errEnded).
func (c *Claim) ready(ctx context.Context) error {
	if c.e.place == Work && !c.m.s.released(c.ID) {
		return errGone // it was offered, and another reader was faster
	}
	switch c.Kind {
	case Conclusion:
		if c.m.s.awaited(c.InReplyTo) {
			return errAwaited
		}
	case Task:
		if err := c.settleIfConcluded(ctx); err != nil {
			return err
		}
	}
	_, err := c.Verify()
	return err
}

// settleIfConcluded moves a task whose conclusion is published to done/ and
// says errEnded.
func (c *Claim) settleIfConcluded(ctx context.Context) error {
	first, err := c.m.conclusionOf(ctx, &c.Header)
	if err != nil || first == nil {
		return err
	}
	if err := c.finish(); err != nil {
		return err
	}
	return Because(errEnded, "already concluded ("+string(first.Ending)+"); moved to done/")
}

// Place is where the handoff stands.
func (c *Claim) Place() Place { return c.e.place }

// Taken commits that the handoff was handed out whole: a task to work/, where
// it owes its conclusion, anything else to done/. by is who took it, for
// people; it may be empty. Until then a crash leaves it as it was.
func (c *Claim) Taken(by string) error {
	if c.Kind == Task || by != "" {
		if err := c.m.s.writeRun(c.ID, Run{TakenBy: by, TakenAt: c.m.s.sys.Now().UTC()}); err != nil {
			return err
		}
	}
	if c.Kind != Task {
		return c.finish()
	}
	if c.e.place == Work {
		return c.m.s.unmarkReleased(c.ID)
	}
	return c.move(Work)
}

// finish moves the handoff to done/.
func (c *Claim) finish() error {
	if c.e.place == Finished {
		return nil
	}
	if err := c.move(Finished); err != nil {
		return err
	}
	return c.m.s.unmarkReleased(c.ID)
}

// ClaimID claims one handoff by its id, to hand it out. Beside the errors of
// the format: ErrNoHandoff, ErrLocked, ErrTaken for what somebody has taken or
// finished, ErrRefused for what was set aside, ErrConcluded for a task that
// has ended.
func (m *Mailbox) ClaimID(ctx context.Context, id ID) (*Claim, error) {
	e, err := m.standing(id)
	if err != nil {
		return nil, err
	}
	switch {
	case e.place == Finished:
		return nil, Because(ErrTaken, "it is finished: it stands in done/")
	case e.place == Work && !m.s.released(id):
		return nil, &Error{Op: "take", Name: string(id), Err: Because(ErrTaken, "it was taken"+m.s.takenBy(id)),
			Hint: "'xfer-inbox release " + string(id) + "' offers it again"}
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
		return entry{}, Because(ErrRefused, "it was set aside: "+m.reason(id))
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
