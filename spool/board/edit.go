package board

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"xfer/internal/durable"
	"xfer/spool"
)

// An Editing is a copy of a card that somebody edits in peace: the card goes on
// meanwhile, and the edit is merged into it at the end.
type Editing struct {
	Path string // of the copy, which is the caller's

	b    *Board
	id   CardID
	base []byte
}

// An Edited says what became of an edit.
type Edited struct {
	Changed bool
	Notes   []string // what was changed on both sides, and how it was kept
	Kept    bool     // the copy is kept: not all of it is in the card
}

// Edit makes a copy of the card id, under local/tmp/. The errors are those of
// Read.
func (b *Board) Edit(ctx context.Context, id CardID) (*Editing, error) {
	c, err := b.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	suffix, err := b.h.Suffix()
	if err != nil {
		return nil, onCard("edit", id, err)
	}
	e := &Editing{Path: b.h.TempFile(editName(id, suffix)), b: b, id: id, base: c.Format()}
	if err := b.h.Retry(func() error { return writeFile(b.h.FS(), e.Path, e.base) }); err != nil {
		return nil, onCard("edit", id, err)
	}
	return e, nil
}

// Finish merges what the copy holds now into the card, durably, and removes the
// copy. It is kept, and Edited.Kept says so, with every error but that it
// cannot be read any more, and where the error is spool.ErrNotMerged: the rest of it
// is in the card then.
func (e *Editing) Finish(ctx context.Context) (Edited, error) {
	out := Edited{Kept: true}
	text, err := durable.ReadRegular(e.Path, maxCard)
	if errors.Is(err, fs.ErrNotExist) {
		return Edited{}, nil // the editor took it away
	}
	if err != nil {
		return out, onCard("edit", e.id, err)
	}
	if string(text) == string(e.base) {
		e.Discard()
		return Edited{}, nil
	}
	lost, err := e.merge(ctx, text, &out)
	if err == nil && len(lost) > 0 {
		err = spool.Because(spool.ErrNotMerged, strings.Join(lost, "; "))
	}
	if err != nil {
		return out, onCard("edit", e.id, err)
	}
	e.Discard()
	out.Kept = false
	return out, nil
}

// Discard removes the copy.
func (e *Editing) Discard() { _ = durable.Remove(e.Path) }

// Abandon gives the edit up: the copy is removed, but for one in which something
// was changed.
func (e *Editing) Abandon() (kept bool) {
	text, err := durable.ReadRegular(e.Path, maxCard)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil && string(text) == string(e.base) {
		e.Discard()
		return false
	}
	return true
}

func (e *Editing) merge(ctx context.Context, text []byte, out *Edited) (lost []string, err error) {
	mine, err := parseCard(e.Path, e.id, text)
	if err != nil {
		return nil, err
	}
	base, err := Parse(e.base)
	if err != nil {
		return nil, err
	}
	err = e.b.change(ctx, e.id, func(theirs *Card) (*Card, error) {
		switch {
		case theirs == nil:
			return nil, spool.ErrNoCard
		case theirs.Removed():
			return nil, errRemoved
		}
		next, m := mergeEdit(base, mine, theirs)
		lost, out.Notes = m.lost, m.notes
		out.Changed = string(next.Format()) != string(theirs.Format())
		return next, nil
	})
	return lost, err
}
