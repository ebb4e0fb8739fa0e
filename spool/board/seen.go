package board

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"xfer/internal/durable"
	"xfer/spool"
)

// A Cursor is which entries a reader has seen: sets of ids, since an entry that
// comes late from another host may have a lesser id than one that was read.
type Cursor struct {
	Cards map[CardID][]spool.ID `json:"cards"` // each sorted
}

// Seen tells whether an entry was seen.
func (k *Cursor) Seen(card CardID, entry spool.ID) bool {
	_, found := slices.BinarySearch(k.Cards[card], entry)
	return found
}

// Unread are the entries of c that reader has not seen and did not write, in
// the order of their ids.
func (k *Cursor) Unread(c *Card, reader spool.Name) []Entry {
	var all []Entry
	for _, e := range c.Entries {
		if e.Author != string(reader) && !k.Seen(c.ID, e.ID) {
			all = append(all, e)
		}
	}
	return all
}

func (k *Cursor) add(card CardID, ids []spool.ID) {
	all := append(slices.Clone(k.Cards[card]), ids...)
	slices.Sort(all)
	k.Cards[card] = slices.Compact(all)
}

const maxCursor = 64 << 20

// Cursor is what reader has seen. Conflict copies count, and a file that cannot
// be read does not: at worst something shows as unread again.
func (b *Board) Cursor(reader spool.Name) (*Cursor, error) {
	k, _, err := b.cursor(reader)
	return k, err
}

func (b *Board) cursor(reader spool.Name) (k *Cursor, copies []string, err error) {
	k = &Cursor{Cards: make(map[CardID][]spool.ID)}
	names, err := dirNames(b.h.SeenDir())
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		base, _, isCopy := strings.Cut(name, conflictMark)
		if strings.TrimSuffix(base, ".json") != string(reader) || !isCopy && filepath.Ext(name) != ".json" {
			continue
		}
		path := b.h.SeenFile(name)
		data, err := durable.ReadRegular(path, maxCursor)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, durable.ErrNotRegular) {
			return nil, nil, err
		}
		var one Cursor
		if err != nil || json.Unmarshal(data, &one) != nil {
			continue
		}
		for card, ids := range one.Cards {
			k.add(card, ids)
		}
		if isCopy {
			copies = append(copies, path)
		}
	}
	return k, copies, nil
}

// MarkSeen adds entries of c to what reader has seen. Those that are gone from
// the card are forgotten: they cannot come back. The errors are spool.ErrLocked
// and those of the system.
func (b *Board) MarkSeen(ctx context.Context, reader spool.Name, c *Card, ids []spool.ID) error {
	unlock, err := b.h.Lock(ctx, cursorsName+"."+string(reader), lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	k, copies, err := b.cursor(reader)
	if err != nil {
		return err
	}
	k.add(c.ID, ids)
	k.Cards[c.ID] = slices.DeleteFunc(k.Cards[c.ID], func(id spool.ID) bool { return c.isGone(string(id)) })
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	path := b.h.SeenFile(string(reader) + ".json")
	if err := b.h.RetrySeen(func() error { return b.h.FS().Replace(path, append(data, '\n'), true) }); err != nil {
		return err
	}
	for _, path := range copies {
		_ = durable.Remove(path)
	}
	return nil
}
