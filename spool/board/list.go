package board

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"xfer/spool"
)

// List is every card that was not removed, the last updated first, and what is
// wrong with those that cannot be read: each a *spool.Error around a
// *PathError. Conflict copies are merged first; err is that the board itself
// cannot be read.
func (b *Board) List(ctx context.Context) (cards []*Card, faults []error, err error) {
	names, err := b.names()
	if err != nil {
		return nil, nil, err
	}
	for _, id := range names.ids() {
		c, _, err := b.read(ctx, id, names)
		switch {
		case errors.Is(err, spool.ErrNoCard):
		case ctx.Err() != nil:
			return nil, nil, context.Cause(ctx)
		case err != nil:
			faults = append(faults, err)
		default:
			cards = append(cards, c)
		}
		faults = append(faults, b.brokenCopies(id, names)...)
	}
	slices.SortStableFunc(cards, func(a, c *Card) int {
		return cmp.Or(c.UpdatedAt().Compare(a.UpdatedAt()), cmp.Compare(a.ID, c.ID))
	})
	return cards, faults, nil
}

// brokenCopies are the conflict copies of a card that merging left behind.
func (b *Board) brokenCopies(id CardID, names *listing) (faults []error) {
	for _, name := range names.copies[id] {
		if _, _, err := readCard(b.h.File(name), id); err != nil {
			faults = append(faults, onCard("read conflict copy of", id, err))
		}
	}
	return faults
}
