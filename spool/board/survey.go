package board

import (
	"context"
	"errors"
	"os"
	"time"

	"xfer/internal/durable"
	"xfer/spool"
)

// A Survey is what a look at the whole board finds, for those who clean up.
// Nothing is changed by it.
type Survey struct {
	Cards   []CardID  // that are whole and were not removed
	Broken  []Finding // cards that cannot be read
	Copies  []Finding // conflict copies; Err where it cannot be merged
	Left    []Finding // what a crash left in local/tmp/; Err likewise
	Edits   []Finding // copies of cards that an editor has, or that were kept
	Removed []Finding // what removed cards leave behind
	Strays  []string  // paths in board/ that are none of these
}

// A Finding is a file of a card.
type Finding struct {
	Card CardID
	Path string
	At   time.Time // the later of its changes of content and of inode
	Err  error     // spool.ErrBrokenCard or an error of the system
}

// Survey looks at every file of the board. The error is that its directories
// cannot be read.
func (b *Board) Survey() (*Survey, error) {
	names, err := b.names()
	if err != nil {
		return nil, err
	}
	s := &Survey{}
	if err := b.surveyTemps(s); err != nil {
		return nil, err
	}
	for _, id := range names.cards {
		c, _, err := readCard(b.Path(id), id)
		switch {
		case err != nil:
			s.Broken = append(s.Broken, finding(id, b.Path(id), err))
		case c == nil: // gone since
		case c.Removed():
			s.Removed = append(s.Removed, finding(id, b.Path(id), nil))
		default:
			s.Cards = append(s.Cards, id)
		}
	}
	for _, id := range names.ids() {
		for _, name := range names.copies[id] {
			path := b.h.File(name)
			_, _, err := readCard(path, id)
			s.Copies = append(s.Copies, finding(id, path, err))
		}
	}
	for _, name := range names.strays {
		s.Strays = append(s.Strays, b.h.File(name))
	}
	return s, nil
}

// surveyTemps looks at the board's files in local/tmp/.
func (b *Board) surveyTemps(s *Survey) error {
	all, err := dirNames(b.h.TempDir())
	if err != nil {
		return err
	}
	for _, name := range all {
		path := b.h.TempFile(name)
		if l, ok := parseLeftover(name); ok {
			_, _, err := readCard(path, l.card)
			s.Left = append(s.Left, finding(l.card, path, err))
		} else if id, ok := parseEdit(name); ok {
			s.Edits = append(s.Edits, finding(id, path, nil))
		}
	}
	return nil
}

func finding(id CardID, path string, err error) Finding {
	f := Finding{Card: id, Path: path, Err: err}
	if info, serr := os.Lstat(path); serr == nil {
		if f.At = info.ModTime(); durable.Changed(info).After(f.At) {
			f.At = durable.Changed(info)
		}
	}
	return f
}

// Expire removes what a removed card has left behind, where that is older than
// before; the name is free then. removed: it was. The errors are spool.ErrLocked
// and those of the system.
func (b *Board) Expire(ctx context.Context, id CardID, before time.Time) (removed bool, err error) {
	unlock, err := b.lock(ctx, id)
	if err != nil {
		return false, onCard("expire", id, err)
	}
	defer unlock()
	path := b.Path(id)
	c, _, err := readCard(path, id)
	if errors.Is(err, spool.ErrBrokenCard) || err == nil && (c == nil || !c.Removed()) {
		return false, nil
	}
	if err == nil && finding(id, path, nil).At.Before(before) {
		removed, err = true, durable.Remove(path)
	}
	if err == nil && removed {
		err = b.h.FS().SyncDir(b.h.Dir())
	}
	return removed && err == nil, onCard("expire", id, err)
}
