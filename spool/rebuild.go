package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"xfer/internal/durable"
)

// Rebuilding the registry: the places are the truth.

// RebuildRegistry removes entries of this host's registry that are no
// handoff's, and enters what was sent from here and stands in a place, where it
// is not there. An entry that is another handoff's than the one in a place
// stays: which of the two was sent is for a person to say. It returns how many
// entries it changed.
func (s *Spool) RebuildRegistry(ctx context.Context) (n int, err error) {
	if n, err = s.clearRegistry(ctx); err != nil {
		return n, err
	}
	peers, err := s.Peers()
	if err != nil {
		return n, err
	}
	for _, name := range peers {
		m, err := s.Mailbox(name)
		if err != nil {
			continue // told by doctor
		}
		for _, p := range Places {
			some, err := m.register(ctx, p)
			n += some
			if err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// clearRegistry removes what stands under an id in the registry and is not its
// handoff: another part's, empty, or broken.
func (s *Spool) clearRegistry(ctx context.Context) (n int, err error) {
	shards, err := readNames(s.idsDir())
	if err != nil {
		return 0, err
	}
	for _, name := range shards {
		if len(name) != 2 || !onlyCrockford(name) {
			continue
		}
		names, err := readNames(filepath.Join(s.idsDir(), name))
		if err != nil {
			return n, err
		}
		for _, id := range names {
			if err := ctx.Err(); err != nil {
				return n, err
			}
			if !isID(id) {
				continue
			}
			cleared, err := s.clearEntry(ctx, name, ID(id))
			if err != nil {
				return n, err
			}
			if cleared {
				n++
			}
		}
	}
	return n, nil
}

func (s *Spool) clearEntry(ctx context.Context, part string, id ID) (cleared bool, err error) {
	path := filepath.Join(s.idsDir(), part, string(id))
	if broken := shard(id) != part || s.brokenEntry(id); !broken {
		return false, nil
	}
	unlock, err := s.lock(ctx, s.idLock(id), lockWait)
	if err != nil {
		return false, err
	}
	defer unlock()
	if shard(id) == part && !s.brokenEntry(id) {
		return false, nil // a sender was about to complete it
	}
	err = durable.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err == nil, err
}

// brokenEntry tells whether what the registry has under id can never be its
// handoff.
func (s *Spool) brokenEntry(id ID) bool {
	info, err := os.Lstat(s.idFile(id))
	if err != nil || info.IsDir() {
		return false
	}
	_, err = s.lookup(id)
	return info.Size() == 0 || errors.Is(err, ErrMalformed) || errors.Is(err, ErrIncomplete) || notRegular(err)
}

// register enters what was sent from here and stands in p.
func (m *Mailbox) register(ctx context.Context, p Place) (n int, err error) {
	l, err := m.scan(p)
	if err != nil {
		return 0, err
	}
	for _, e := range l.entries {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if _, err := os.Lstat(m.s.idFile(e.id)); err == nil {
			continue
		}
		f, err := openFile(m.path(e), e.id)
		if err != nil {
			continue // moved, or told by doctor
		}
		_ = f.Close()
		if !f.FromHost.Same(m.s.host) {
			continue
		}
		entered, err := m.enterStanding(ctx, f, e)
		if err != nil {
			return n, err
		}
		if entered {
			n++
		}
	}
	return n, nil
}

func (m *Mailbox) enterStanding(ctx context.Context, f *File, e entry) (entered bool, err error) {
	unlock, err := m.s.lock(ctx, m.s.idLock(e.id), lockWait)
	if err != nil {
		return false, err
	}
	defer unlock()
	err = m.s.register(&f.Header, m.path(e))
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return false, nil // entered, or moved on
	}
	return err == nil, err
}
