package spool

import (
	"context"
	"errors"
	"os"
	"strings"

	"xfer/internal/durable"
)

// Settling what a sync tool, a crash or a foreign writer left in new/, cur/ and
// work/: as a reader does that meets it. A whole handoff never goes from there
// but to the place where it belongs.

// Settle deals with a copy, a concluded task, a misrouted or malformed file as
// a reader that meets it does, and says what was done. What is incomplete has
// had its time, and is set aside.
func (r *Reaping) Settle(ctx context.Context, l *Leftover) (did string, err error) {
	m, err := r.s.Mailbox(l.Peer)
	if err != nil {
		return "", err
	}
	if home, err := m.home(); err != nil || !home.Host.Same(r.s.host) {
		return "", errKept
	}
	e := entry{l.ID, l.Place, l.Name}
	c, err := m.claim(e)
	if err == nil {
		err = c.settle(ctx, l.Kind == LeftNotWhole)
		c.Release()
	}
	switch {
	case err == nil, errors.Is(err, errBusy), errors.Is(err, errGone), notRegular(err):
		return "", errKept
	case errors.Is(err, errGhost), errors.Is(err, errAside), errors.Is(err, errEnded):
		return err.Error(), nil
	case errors.Is(err, ErrIncomplete) && l.Kind == LeftNotWhole:
		return r.setAsideOld(m, l, e, err)
	case errors.Is(err, ErrIncomplete):
		return "", errKept
	}
	return "", err
}

// settle moves a concluded task to done/ (errEnded); with deep it looks at the
// body too.
func (c *Claim) settle(ctx context.Context, deep bool) error {
	if c.Kind == Task {
		if err := c.settleIfConcluded(ctx); err != nil {
			return err
		}
	}
	if !deep {
		return nil
	}
	_, err := c.Verify()
	return err
}

const (
	whyIncomplete why = "incomplete"
	whyStray      why = "stray"
)

// setAsideOld sets aside what was read as incomplete a moment ago, if it has
// not changed since it was surveyed.
func (r *Reaping) setAsideOld(m *Mailbox, l *Leftover, e entry, reason error) (string, error) {
	f, _, err := r.locked(l)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	to, err := m.setAside(e, f, whyIncomplete, reason.Error())
	return "set aside as bad/" + to, gone(err)
}

// DropStray removes a stray that is the same as the handoff it copies, and sets
// the others aside.
func (r *Reaping) DropStray(l *Leftover) (did string, err error) {
	f, info, err := r.locked(l)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	m, err := r.s.Mailbox(l.Peer)
	if err != nil {
		return "", err
	}
	h, err := readHandoff(f, info, l.ID)
	if err == nil {
		_, err = h.Verify()
	}
	if passIncomplete(err) != nil {
		return "", err
	}
	if err == nil {
		same, err := m.hasSame(h)
		if err != nil {
			return "", err
		}
		if same {
			return "removed: it is the same as the handoff it copies", gone(durable.Remove(r.Path(l)))
		}
	}
	to, err := m.setAside(entry{l.ID, l.Place, l.Name}, f, whyStray, "its name was "+printable(l.Name))
	return "set aside as bad/" + to, gone(err)
}

// printable is a file's name without what a terminal would act on.
func printable(name string) string { return strings.ToValidUTF8(strings.Map(plainRune, name), "?") }

func plainRune(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}

// hasSame tells whether the mailbox has, or remembers, the same handoff, whole.
func (m *Mailbox) hasSame(h *File) (bool, error) {
	found, err := m.find(h.ID)
	if err != nil {
		return false, err
	}
	for _, e := range found {
		f, err := openFile(m.path(e), h.ID)
		if errors.Is(err, os.ErrNotExist) || passIncomplete(err) == nil && err != nil {
			continue
		}
		if err != nil {
			return false, err
		}
		_, err = f.Verify()
		_ = f.Close()
		if err == nil && f.Same(&h.Header) {
			return true, nil
		}
	}
	before, folded, err := m.folded(h.ID)
	return err == nil && folded && before.Last.Handled() && before.Same == h.same(), err
}
