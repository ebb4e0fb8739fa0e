package spool

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"xfer/internal/durable"
)

// Letting go: what is remembered is durable before the file goes.

// LetGo lets finished handoffs of one mailbox go, and what was set aside there.
// It returns how many went and how large they were. What has changed since the
// survey, or is in somebody's hands, stays; so does all where this host works
// the mailbox no more.
func (r *Reaping) LetGo(ctx context.Context, peer Name, all []Leftover) (n int, size int64, err error) {
	m, err := r.s.Mailbox(peer)
	if err != nil {
		return 0, 0, err
	}
	if home, err := m.home(); err != nil || !home.Host.Same(r.s.host) {
		return 0, 0, err
	}
	going, folded, err := r.fold(ctx, all)
	if err != nil || len(going) == 0 {
		return 0, 0, err
	}
	if len(folded) > 0 {
		if err := m.fold(encodeRecords(folded)); err != nil {
			return 0, 0, err
		}
	}
	for _, l := range going {
		if err := ctx.Err(); err != nil {
			return n, size, err
		}
		switch err := r.drop(l); {
		case Kept(err):
			continue
		case err != nil:
			return n, size, err
		}
		if l.Place == Bad {
			_ = durable.Remove(r.Path(l) + reasonSuffix)
		}
		n, size = n+1, size+l.Size
	}
	return n, size, nil
}

// fold reads what is to be remembered of each. No lock is held: a record that
// proves to be too much says no more than the place does.
func (r *Reaping) fold(ctx context.Context, all []Leftover) (going []*Leftover, folded []record, err error) {
	for i := range all {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		l := &all[i]
		f, info, err := r.open(l, os.O_RDONLY)
		if Kept(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		record, remember, err := foldable(f, info, l)
		_ = f.Close()
		if err != nil {
			return nil, nil, err
		}
		if remember {
			folded = append(folded, record)
		}
		going = append(going, l)
	}
	return going, folded, nil
}

// foldable is what a segment remembers of l. What was set aside counts as
// handled only where it is whole, and under its own id. In done/ the id is
// handled whatever became of the file: where it cannot be read any more, a copy
// that comes back is another handoff, which is set aside and not run.
func foldable(f *os.File, info fs.FileInfo, l *Leftover) (rec record, remember bool, err error) {
	if l.ID == "" {
		return rec, false, nil
	}
	h, err := readHandoff(f, info, l.ID)
	if err == nil && l.Place == Bad {
		_, err = h.Verify()
	}
	unreadable := errors.Is(err, ErrMalformed) || errors.Is(err, ErrIncomplete)
	if err != nil && !unreadable {
		return rec, false, err
	}
	folded := Folded{ID: l.ID, Last: lastOf(l.Place, "")}
	if err == nil {
		folded.Same, folded.Last = h.same(), lastOf(l.Place, h.Ending)
	}
	return folded.record(), err == nil || l.Place == Finished, nil
}

// FoldLinks remembers registry entries whose handoff went elsewhere, and
// removes them. What they remember is that the id was used, not that it was
// handled. An entry that cannot be read stays, and so does one whose handoff
// stands in its addressee's mailbox as another file.
func (r *Reaping) FoldLinks(ctx context.Context, all []Leftover) (n int, err error) {
	var going []*Leftover
	var folded []record
	for i := range all {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		l := &all[i]
		reg, err := r.s.lookup(l.ID)
		switch {
		case err == nil && !r.stands(reg):
			f := Folded{reg.ID, reg.same(), lastSeen}
			folded = append(folded, f.record())
		case errors.Is(err, fs.ErrNotExist): // gone, or empty, which counts as absent
		default:
			continue
		}
		going = append(going, l)
	}
	if len(folded) > 0 {
		if err := r.s.foldHere(encodeRecords(folded)); err != nil {
			return 0, err
		}
	}
	return r.dropLinks(ctx, going)
}

// dropLinks removes entries that are remembered, those of one part of the
// registry under its lock together.
func (r *Reaping) dropLinks(ctx context.Context, going []*Leftover) (n int, err error) {
	slices.SortFunc(going, func(a, b *Leftover) int { return cmp.Compare(shard(a.ID), shard(b.ID)) })
	for len(going) > 0 {
		part := shard(going[0].ID)
		end := slices.IndexFunc(going, func(l *Leftover) bool { return shard(l.ID) != part })
		if end < 0 {
			end = len(going)
		}
		some, err := r.dropPart(ctx, going[:end])
		n += some
		if err != nil {
			return n, err
		}
		going = going[end:]
	}
	return n, nil
}

func (r *Reaping) dropPart(ctx context.Context, going []*Leftover) (n int, err error) {
	unlock, err := r.lockID(ctx, going[0].ID)
	if Kept(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer unlock()
	for _, l := range going {
		switch err := r.dropLink(l); {
		case err == nil:
			n++
		case !Kept(err):
			return n, err
		}
	}
	return n, nil
}

// stands tells whether the handoff of a registry entry stands in a place, as
// far as can be told.
func (r *Reaping) stands(reg *registered) bool {
	m, err := r.s.Mailbox(reg.To)
	if err != nil {
		return !errors.Is(err, ErrNoPeer)
	}
	found, err := m.find(reg.ID)
	if err != nil || len(found) == 0 {
		return err != nil
	}
	return true
}

// Links tells whether a registry entry is one that FoldLinks lets go.
func (r *Reaping) Links(l *Leftover) bool {
	reg, err := r.s.lookup(l.ID)
	return err == nil && !r.stands(reg) || errors.Is(err, fs.ErrNotExist)
}

// dropLink removes one whose lock is held.
func (r *Reaping) dropLink(l *Leftover) error {
	info, err := os.Lstat(r.Path(l))
	if err != nil || durable.Names(info) > 1 || !l.is(info) {
		return errKept
	}
	return durable.Remove(r.Path(l))
}

// lockID takes the lock of an id; errKept where somebody else works on it.
func (r *Reaping) lockID(ctx context.Context, id ID) (unlock func(), err error) {
	unlock, err = r.s.lock(ctx, r.s.idLock(id), lockWait)
	if errors.Is(err, ErrLocked) {
		return nil, errKept
	}
	return unlock, err
}
