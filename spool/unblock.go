package spool

import (
	"context"
	"errors"
	"io/fs"

	"xfer/internal/durable"
)

// Unblock makes the ids of conclusions free: what has the id of the conclusion
// of an unfinished task, and does not end it, is set aside and forgotten by the
// registry, since nothing could end the task while it is there. What is in
// another host's mailbox, in somebody's hands or not whole stays. It returns how
// many it set aside or forgot.
func (s *Spool) Unblock(ctx context.Context) (n int, err error) {
	err = s.eachUnfinished(ctx, func(task *Header) error {
		if task.Kind != Task {
			return nil
		}
		some, err := s.unblock(ctx, task)
		n += some
		return err
	})
	return n, err
}

// eachUnfinished calls do with the header of whatever is whole in new/, cur/ and
// work/ of any mailbox.
func (s *Spool) eachUnfinished(ctx context.Context, do func(*Header) error) error {
	return s.eachMailbox(func(m *Mailbox) error {
		for _, p := range []Place{New, Cur, Work} {
			l, err := m.scan(p)
			if err != nil {
				return err
			}
			for _, e := range l.entries {
				if err := ctx.Err(); err != nil {
					return err
				}
				f, err := openFile(m.path(e), e.id)
				if err != nil {
					continue // moved, or told by doctor
				}
				_ = f.Close()
				if err := do(&f.Header); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// eachMailbox calls do with every mailbox that can be opened.
func (s *Spool) eachMailbox(do func(*Mailbox) error) error {
	peers, err := s.Peers()
	if err != nil {
		return err
	}
	for _, n := range peers {
		m, err := s.Mailbox(n)
		if err != nil {
			continue // told by doctor
		}
		if err := do(m); err != nil {
			return err
		}
	}
	return nil
}

func (s *Spool) unblock(ctx context.Context, task *Header) (n int, err error) {
	id := task.ID.Conclusion()
	unlock, err := s.lock(ctx, s.idLock(id), lockWait)
	if err != nil {
		return 0, err
	}
	defer unlock()
	left := 0
	err = s.eachMailbox(func(m *Mailbox) error {
		found, err := m.find(id)
		if err != nil {
			return err
		}
		for _, e := range found {
			aside, err := m.setBlockerAside(ctx, e, task)
			if err != nil {
				return err
			}
			if aside {
				n++
			} else {
				left++
			}
		}
		return nil
	})
	if err != nil || left > 0 {
		return n, err
	}
	forgotten, err := s.forgetBlocker(task)
	if forgotten && n == 0 {
		n = 1
	}
	return n, err
}

// setBlockerAside sets e aside unless it ends task, or is not this host's to
// move.
func (m *Mailbox) setBlockerAside(ctx context.Context, e entry, task *Header) (aside bool, err error) {
	l, err := m.lockEntry(e)
	if errors.Is(err, errBusy) || errors.Is(err, errGone) || notRegular(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = l.f.Close() }()
	h, err := readHandoff(l.f, l.info, e.id)
	if err != nil || h.ends(task) {
		return false, passIncomplete(err)
	}
	if err := m.MayWork(ctx, false); err != nil {
		if errors.Is(err, ErrElsewhere) {
			err = nil
		}
		return false, err
	}
	if _, err := m.setAside(e, l.f, whyDiffers, "it has the id of the conclusion of "+string(task.ID)+", and does not end it"); err != nil {
		return false, err
	}
	if e.place == Bad {
		_ = durable.Remove(m.path(e) + reasonSuffix) // the new name has its own
	}
	return true, nil
}

// forgetBlocker removes the registry's entry for the conclusion of task, if it
// is another handoff's. The lock of its id is held.
func (s *Spool) forgetBlocker(task *Header) (forgotten bool, err error) {
	id := task.ID.Conclusion()
	r, err := s.lookup(id)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || r.ends(task) {
		return false, passIncomplete(err)
	}
	return true, s.unregister(id)
}
