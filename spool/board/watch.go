package board

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"xfer/internal/durable"
	"xfer/spool"
)

// A Watch tells of entries that come from its making on, however they come: by
// an append, a sync tool, a merge, or an editor.
type Watch struct {
	b     *Board
	only  CardID // empty: all
	w     *spool.Watch
	known map[CardID]map[spool.ID]bool
	files map[CardID]stamp // as they were when they were read last
}

// A stamp tells whether a file is worth reading again.
type stamp struct {
	inode   uint64
	size    int64
	written time.Time
}

// An Arrival is what is new on a card.
type Arrival struct {
	Card    *Card
	Entries []Entry
}

// Watch begins to watch a card, which may not be there yet; all of them where
// id is empty. What is there is known.
func (b *Board) Watch(ctx context.Context, id CardID) (*Watch, error) {
	w := &Watch{b: b, only: id, w: b.h.Watch(), known: make(map[CardID]map[spool.ID]bool), files: make(map[CardID]stamp)}
	if _, err := w.look(ctx); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Close ends the watch.
func (w *Watch) Close() { w.w.Close() }

// Next waits until something may have come, at most poll, and returns what has;
// nothing is no error. A card that cannot be read or merged just now is looked at
// again. The error is the cause of ctx's end, or that the board cannot be read.
func (w *Watch) Next(ctx context.Context, poll time.Duration) ([]Arrival, error) {
	if _, err := w.w.Wait(ctx, poll); err != nil {
		return nil, err
	}
	return w.look(ctx)
}

func (w *Watch) look(ctx context.Context) ([]Arrival, error) {
	names, err := w.b.names()
	if err != nil {
		return nil, err
	}
	ids := names.ids()
	if w.only != "" {
		ids = slices.DeleteFunc(ids, func(id CardID) bool { return id != w.only })
	}
	var all []Arrival
	for _, id := range ids {
		// The stamp is taken before the file is read: what is written in
		// between shows as another one next time.
		now, err := stampOf(w.b.Path(id))
		if err == nil && now == w.files[id] && len(names.copies[id]) == 0 {
			continue
		}
		c, _, err := w.b.read(ctx, id, names)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			continue
		}
		w.files[id] = now
		if a := w.news(c); len(a.Entries) > 0 {
			all = append(all, a)
		}
	}
	return all, nil
}

// news is what of c is not known, which it is from then on.
func (w *Watch) news(c *Card) Arrival {
	a := Arrival{Card: c}
	known := w.known[c.ID]
	if known == nil {
		known = make(map[spool.ID]bool)
		w.known[c.ID] = known
	}
	for _, e := range c.Entries {
		if !known[e.ID] {
			a.Entries = append(a.Entries, e)
		}
	}
	for _, e := range a.Entries {
		known[e.ID] = true
	}
	return a
}

func stampOf(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return stamp{}, err
	}
	return stamp{durable.Inode(info), info.Size(), info.ModTime()}, nil
}
