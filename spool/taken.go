package spool

import (
	"context"
)

// Taken commits that the handoff was handed out whole: a task to work/, where
// it owes its conclusion, anything else to done/, and so a task that was
// concluded while it was handed out. by is who took it, for people; it may be
// empty. Until then a crash leaves it as it was.
func (c *Claim) Taken(by string) error { return TakenTogether([]*Claim{c}, by)[0] }

// TakenTogether is Taken for claims of one mailbox, and has an error for each:
// what moves to the same place shares one sync. A crash before that leaves any
// of them as they were, to be handed out once more.
func TakenTogether(claims []*Claim, by string) []error {
	errs := make([]error, len(claims))
	moved := make(map[Place][]int)
	from := make([]Place, len(claims))
	var lines []byte
	for i, c := range claims {
		c.noteTaker(by)
		to := c.takenTo()
		if from[i] = c.e.place; to == from[i] {
			continue
		}
		if errs[i] = c.shift(to); errs[i] == nil {
			moved[to] = append(moved[to], i)
			lines = append(lines, c.moved()...)
		}
	}
	if len(lines) > 0 {
		claims[0].m.s.appendLog(lines)
	}
	for to, some := range moved {
		if err := claims[some[0]].m.syncPlace(to); err != nil {
			for _, i := range some {
				errs[i] = err
			}
		}
	}
	for i, c := range claims {
		if from[i] == Work && errs[i] == nil {
			errs[i] = c.m.s.unmarkReleased(c.ID)
		}
	}
	return errs
}

// takenTo is where the handoff goes once it was handed out.
func (c *Claim) takenTo() Place {
	if c.Kind != Task {
		return Finished
	}
	// Whoever concluded it meanwhile has left the move to whoever has the lock.
	if first, err := c.m.conclusionOf(context.Background(), &c.Header); err == nil && first != nil {
		return Finished
	}
	return Work
}

func (c *Claim) noteTaker(by string) {
	if c.Kind != Task && by == "" {
		return
	}
	run, _ := c.m.s.RunOf(c.ID)
	run.TakenBy, run.TakenAt = by, c.m.s.sys.Now().UTC()
	// It was handed out: that nobody can be told who has it, on a full disk, is
	// no reason to hand it out again.
	_ = c.m.s.writeRun(c.ID, run)
}
