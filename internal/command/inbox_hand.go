package command

import (
	"cmp"

	"xfer/spool"
)

// How many that are taken at once share one write and one sync, and how many
// bytes of bodies: what was written and not committed is handed out again
// after a crash.
const (
	takeTogether = 256
	takeBytes    = 1 << 20
)

// handOut hands claims out and commits them; it ends every claim.
func (t *taking) handOut(claims []*spool.Claim) error {
	defer func(all []*spool.Claim) { _ = giveBack(all, nil) }(claims)
	for len(claims) > 0 {
		n, size := 1, claims[0].Size
		for n < len(claims) && size+claims[n].Size <= takeBytes {
			size += claims[n].Size
			n++
		}
		if err := t.handOutTogether(claims[:n]); err != nil {
			return err
		}
		claims = claims[n:]
	}
	return nil
}

// handOutTogether writes the bodies out whole and only then commits: a reader
// that goes away leaves the handoffs as they were. What was written when
// something comes in between is committed all the same.
func (t *taking) handOutTogether(claims []*spool.Claim) error {
	var first error
	for i, c := range claims {
		if first = t.Ctx.Err(); first != nil && i == 0 {
			return first
		}
		if first == nil {
			if err := t.write(c); err != nil {
				first = onID("take", c.ID, err)
			}
		}
		if first != nil {
			claims = claims[:i]
			break
		}
	}
	if err := t.Out.Flush(); err != nil {
		if len(claims) > 0 {
			err = onID("take", claims[0].ID, err)
		}
		return cmp.Or(first, err)
	}
	for i, err := range spool.TakenTogether(claims, t.by) {
		if err == nil {
			t.tell(claims[i])
			continue
		}
		first = cmp.Or(first, onID("take", claims[i].ID, spool.Because(err, err.Error()+"; it was handed out, and may be offered again")))
	}
	return first
}

func (t *taking) tell(c *spool.Claim) {
	what := word(c.Kind, c.Ending) + " " + string(c.ID) + " from " + string(c.From) + ", " + Quoted(c.Subject)
	switch {
	case c.Kind != spool.Task:
		t.Err.Say("took %s", what)
	case c.Place() == spool.Finished:
		t.Err.Say("took %s; it was concluded meanwhile", what)
	default:
		t.Err.Say("took %s; to end it: %s", what, t.ends(t.Name, c.ID))
	}
}
