package spool

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"xfer/internal/durable"
)

// A Queue is what a reader works off: one scan of what is due in a mailbox,
// oldest id first. What cannot be handed out is passed over and noted, never
// an end.
type Queue struct {
	m       *Mailbox
	filter  Filter
	entries []entry
	heap    int // how many are to be taken from entries as from a heap before the rest is sorted
	held    bool
	strays  int
	busy    int
	notes   []string
	left    map[string]stamp // by path, what was left where it is: not whole, or no handoff
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
	if q.held = peer.Hold; q.held {
		places = places[1:] // new/ is left as it is
	}
	l, err := m.scan(places...)
	if err != nil {
		return nil, err
	}
	q.entries, q.strays = l.entries, len(l.strays)
	ids, err := m.s.releasedIDs()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		e, _, err := m.at(Work, id)
		switch {
		case err == nil:
			q.entries = append(q.entries, e)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	makeHeap(q.entries)
	q.heap = sortAfter
	return q, nil
}

// sortAfter is beyond how many of a long queue it is better sorted: whoever
// takes a few does not pay for all.
const sortAfter = 1000

// pop is the next of what is left, which is something.
func (q *Queue) pop() (e entry) {
	if q.heap > 0 {
		q.heap--
		e, q.entries = popOldest(q.entries)
		if q.heap == 0 {
			byID(q.entries)
		}
		return e
	}
	e, q.entries = q.entries[0], q.entries[1:]
	return e
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

// OnHold tells whether new/ was left alone because the mailbox is on hold.
func (q *Queue) OnHold() bool { return q.held }

// Busy is how many entries another process had locked when Next came to them.
func (q *Queue) Busy() int { return q.busy }

// Next claims the next one: locked, whole, its digest checked, not handled
// before, not awaited by another process, and if a task, not concluded. At the
// end the error is io.EOF.
func (q *Queue) Next(ctx context.Context) (*Claim, error) {
	claims, err := q.NextGroup(ctx, 1)
	if err != nil {
		return nil, err
	}
	if len(claims) == 0 {
		return nil, io.EOF
	}
	return claims[0], nil
}

// NextGroup claims up to n as Next does; none at the end. All of a group are
// locked before anything else is looked up, so that cur/ is read once for them
// and not for each.
func (q *Queue) NextGroup(ctx context.Context, n int) (claims []*Claim, err error) {
	for len(claims) < n && len(q.entries) > 0 && err == nil {
		var some []*Claim
		some, err = q.claimGroup(ctx, n-len(claims))
		claims = append(claims, some...)
	}
	if err != nil {
		for _, c := range claims {
			c.Release()
		}
		return nil, err
	}
	return claims, nil
}

// claimGroup claims what may be handed out of the next n.
func (q *Queue) claimGroup(ctx context.Context, n int) (claims []*Claim, err error) {
	group, err := q.lockGroup(n)
	if err != nil {
		for _, l := range group {
			_ = l.f.Close()
		}
		return nil, err
	}
	for i, r := range q.claimLocked(ctx, group) {
		if err == nil {
			err = ctx.Err()
		}
		switch {
		case err != nil && r.claim != nil:
			r.claim.Release()
		case err != nil:
		case r.err != nil:
			err = q.pass(group[i].entry, group[i].info, r.err)
		case r.claim != nil:
			claims = append(claims, r.claim)
		}
	}
	return claims, err
}

// An attempt is the claim on one of a group, nil where the filter does not let it
// pass, or why it is not to be had.
type attempt struct {
	claim *Claim
	err   error
}

// claimLocked claims what is locked, one a processor where there are many.
func (q *Queue) claimLocked(ctx context.Context, group []*lockedEntry) []attempt {
	all := make([]attempt, len(group))
	g := q.m.glance(group)
	claim := func(i int) {
		if all[i].err = ctx.Err(); all[i].err != nil {
			_ = group[i].f.Close()
			return
		}
		all[i].claim, all[i].err = q.claimReady(ctx, group[i], g)
	}
	if len(group) >= leastGlanced {
		each(len(group), min(runtime.GOMAXPROCS(0), syncTogether), claim)
		return all
	}
	for i := range group {
		claim(i)
	}
	return all
}

// lockGroup locks the next n that are to be had.
func (q *Queue) lockGroup(n int) (group []*lockedEntry, err error) {
	for len(group) < n && len(q.entries) > 0 && err == nil {
		e := q.pop()
		l, lerr := q.m.lockEntry(e)
		if lerr != nil {
			err = q.pass(e, nil, lerr)
			continue
		}
		group = append(group, l)
	}
	return group, err
}

// claimReady is the claim on l, nil where the filter does not let it pass.
func (q *Queue) claimReady(ctx context.Context, l *lockedEntry, g *glance) (*Claim, error) {
	c, err := q.m.claimLocked(l, g)
	if err != nil {
		return nil, err
	}
	if !q.filter.Match(&c.Header) {
		c.Release()
		return nil, nil
	}
	if err := c.ready(ctx); err != nil {
		c.Release()
		return nil, err
	}
	return c, nil
}

// pass notes why e is passed over; what is wrong beyond e is returned. info is
// e's from before it was read, nil where it was not.
func (q *Queue) pass(e entry, info fs.FileInfo, err error) error {
	switch {
	case errors.Is(err, errGone), errors.Is(err, errAwaited):
	case errors.Is(err, errBusy):
		q.busy++
	case passable(err):
		if errors.Is(err, ErrIncomplete) || notRegular(err) {
			q.leave(e, info)
		}
		q.notes = append(q.notes, string(e.place)+"/"+e.file+": "+plain(err))
	default:
		return &Error{Op: "read", Name: string(e.place) + "/" + e.file, Err: err}
	}
	return nil
}

// leave remembers how e was when it was read. One that has just changed may
// change again without showing it, and is read anew.
func (q *Queue) leave(e entry, info fs.FileInfo) {
	if info == nil {
		var err error
		if info, err = os.Lstat(q.m.path(e)); err != nil {
			return
		}
	}
	if time.Since(durable.Changed(info)) < time.Second {
		return
	}
	if q.left == nil {
		q.left = make(map[string]stamp)
	}
	q.left[q.m.path(e)] = stampOf(info)
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
	if c.e.place == Work {
		if offered, err := c.m.s.released(c.ID); err != nil {
			return err
		} else if !offered {
			return errGone // it was, and another reader was faster
		}
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
