package spool

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
)

// Counts is how many handoffs stand in each place; names only are read.
func (m *Mailbox) Counts() (map[Place]int, error) {
	counts := make(map[Place]int, len(Places))
	for _, p := range Places {
		l, err := m.scan(p)
		if err != nil {
			return nil, err
		}
		for _, e := range l.entries {
			if p != Bad || isID(e.file) {
				counts[p]++
			}
		}
	}
	return counts, nil
}

// eachSent calls do with every id in this host's registry, in no order, until
// it returns an error.
func (s *Spool) eachSent(ctx context.Context, do func(ID) error) error {
	shards, err := readNames(s.idsDir())
	if err != nil {
		return err
	}
	for _, name := range shards {
		if len(name) != 2 || !onlyCrockford(name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		ids, err := readNames(filepath.Join(s.idsDir(), name))
		if err != nil {
			return err
		}
		for _, id := range ids {
			if !isID(id) {
				continue
			}
			if err := do(ID(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// OpenTasks are the tasks that n sent from this host and whose conclusion has
// not come, oldest first. What the registry cannot tell is passed over.
func (s *Spool) OpenTasks(ctx context.Context, n Name) ([]ID, error) {
	m, err := s.Mailbox(n)
	if err != nil {
		return nil, err
	}
	open := []ID{}
	err = s.eachSent(ctx, func(id ID) error {
		r, err := s.lookup(id)
		if err != nil || r.Kind != Task || r.From != n {
			return nil
		}
		for _, p := range Places {
			if _, _, err := m.at(p, id.Conclusion()); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		open = append(open, id)
		return nil
	})
	slices.Sort(open)
	return open, err
}
