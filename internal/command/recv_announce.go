package command

import (
	"errors"
	"path/filepath"

	"xfer/internal/tool"
	"xfer/spool"
)

// What a receiver does with what arrives: it announces it, or has it handled.

// An arrival is a receiver for which something may have come.
type arrival struct {
	*spool.Receiver
	rescan bool
	came   []spool.ID // what was seen to come, where that is known
}

func (x *receiving) everything() []arrival {
	all := make([]arrival, len(x.holding))
	for i, r := range x.holding {
		all[i] = arrival{Receiver: r, rescan: true}
	}
	return all
}

// arrivals are the receivers that paths concern; nil, everything, for none.
func (x *receiving) arrivals(paths []string) []arrival {
	if len(paths) == 0 {
		return nil
	}
	due := []arrival{}
	at := make(map[string]int)
	for _, path := range paths {
		dir := filepath.Dir(path)
		r := x.byDir[dir]
		if r == nil {
			continue
		}
		if _, there := at[dir]; !there {
			at[dir] = len(due)
			due = append(due, arrival{Receiver: r})
		}
		if id, _, ok := r.Mailbox().Came(path); ok {
			a := &due[at[dir]]
			a.came = append(a.came, id)
		}
	}
	return due
}

// queue is what of it is due. That the mailbox is on hold is said once for each
// time that it is.
func (x *receiving) queue(a arrival) (q *spool.Queue, err error) {
	if len(a.came) > 0 {
		q, err = a.Came(a.came)
	} else {
		q, err = a.Arrivals(a.rescan)
	}
	if err != nil {
		return nil, onMailbox(a.Mailbox(), err)
	}
	if n := a.Mailbox().Name(); q.OnHold() && !x.onHold[a.Receiver] {
		x.Err.Say("mailbox %q is on hold: '%s' lets it be received from", n, x.typedAs(n, "unhold"))
	}
	x.onHold[a.Receiver] = q.OnHold()
	return q, nil
}

// announce announces what has arrived; a receiver that fails is given up, and
// the others go on. The error is that of standard output.
func (x *receiving) announce(due []arrival) (n int, again soon, err error) {
	for _, a := range due {
		take := x.announceOne
		if x.handling != nil {
			take = x.handling.startAll
		}
		some, when, err := take(a)
		n += some
		again = max(again, when)
		if errors.Is(err, tool.ErrOutput) || err != nil && x.Ctx.Err() != nil {
			return n, later, err // nobody would hear of what the others have
		}
		if err != nil {
			x.failures.Add(err)
			x.giveUp(a.Receiver)
		}
		if x.once && n > 0 {
			break
		}
	}
	return n, again, nil
}

func (x *receiving) giveUp(r *spool.Receiver) {
	kept := x.holding[:0:0]
	for _, h := range x.holding {
		if h != r {
			kept = append(kept, h)
		}
	}
	x.holding = kept
	delete(x.byDir, r.Mailbox().PlaceDir(spool.New))
	if err := r.Close(); err != nil {
		x.failures.Add(err)
	}
}

func (x *receiving) announceOne(a arrival) (n int, again soon, err error) {
	if err := a.StillHome(); err != nil {
		return 0, later, err
	}
	q, err := x.queue(a)
	if err != nil {
		return 0, later, err
	}
	together := 0
	if x.once {
		together = 1
	}
	for {
		claims, err := a.Next(x.Ctx, q, together)
		x.notes(q.Notes())
		if err != nil || len(claims) == 0 {
			if q.Busy() > 0 {
				again = inAWhile
			}
			return n, again, err
		}
		if err := a.StillHome(); err != nil {
			return n, later, giveBack(claims, err)
		}
		if err := x.printClaims(claims); err != nil {
			return n, later, err
		}
		if err := a.Received(claims); err != nil {
			return n, later, err
		}
		n += len(claims)
		if x.once {
			return n, later, nil
		}
	}
}

// printClaims prints a line for each; where one cannot be printed, none of
// them was received.
func (x *receiving) printClaims(claims []*spool.Claim) error {
	for _, c := range claims {
		r := newHandoffRecord(&c.Header, spool.Cur, c.CurPath(), nil)
		if err := x.Out.Write(r); err != nil {
			return giveBack(claims, err)
		}
	}
	if err := x.Out.Flush(); err != nil {
		return giveBack(claims, err)
	}
	return nil
}

func giveBack(claims []*spool.Claim, err error) error {
	for _, c := range claims {
		c.Release()
	}
	return err
}
