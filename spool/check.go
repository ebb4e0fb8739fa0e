package spool

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
)

// Checking a spool: every invariant of the format, one function each, over one
// reading of the whole tree. Nothing is locked and nothing is changed, so that a
// spool in use may show what is gone a moment later. A finding names files,
// ids and peers, never a subject or a body.

// checks are made in this order: the first one that reads handoffs gives them
// to those after it.
var checks = []struct {
	name string
	do   func(*checker) error
}{
	{"layout", (*checker).layout},
	{"handoff", (*checker).handoffs},
	{"double", (*checker).doubles},
	{"conclusion", (*checker).conclusions},
	{"set-aside", (*checker).setAside},
	{"registry", (*checker).registry},
	{"claim", (*checker).claims},
	{"temp", (*checker).temps},
}

// Check reads the whole spool, bodies too, and says what is not as the format
// wants it, sorted by path. The error is the context's, or that of a directory
// that could not be read; what was found until then is returned with it.
func (s *Spool) Check(ctx context.Context) ([]Finding, error) { return s.check(ctx, true) }

// CheckQuick is Check without reading bodies: digests are not looked at.
func (s *Spool) CheckQuick(ctx context.Context) ([]Finding, error) { return s.check(ctx, false) }

func (s *Spool) check(ctx context.Context, deep bool) ([]Finding, error) {
	c := &checker{s: s, ctx: ctx, deep: deep, whole: make(map[ID][]standing), broken: make(map[ID]bool)}
	peers, err := s.Peers()
	if err != nil {
		return nil, err
	}
	for _, n := range peers {
		if m, err := s.Mailbox(n); err == nil {
			c.mailboxes = append(c.mailboxes, m)
		}
	}
	for _, check := range checks {
		c.name = check.name
		if err = check.do(c); err != nil {
			break
		}
	}
	slices.SortStableFunc(c.found, func(a, b Finding) int { return cmp.Compare(a.Path, b.Path) })
	return c.found, err
}

// A checker is one run of Check.
type checker struct {
	s         *Spool
	deep      bool            // bodies too
	ctx       context.Context //nolint:containedctx // it lives as long as one call
	mailboxes []*Mailbox
	whole     map[ID][]standing // by mailbox and then from left to right
	broken    map[ID]bool       // what stands in a place and is not whole, which is told
	name      string            // of the check that is made
	found     []Finding
}

// A standing is a whole handoff and where it stands.
type standing struct {
	m    *Mailbox
	e    entry
	h    *Header
	info fs.FileInfo
}

func (st standing) path() string { return st.m.path(st.e) }

func (c *checker) say(s Severity, path string, m Mend, p phrase, facts ...Fact) {
	if rel, err := filepath.Rel(c.s.dir, path); err == nil {
		path = filepath.ToSlash(rel)
	}
	c.found = append(c.found, Finding{Severity: s, Check: c.name, Path: path, Message: Say(p, facts...), Mend: m})
}

// mayClaim tells whether this host works m, or nobody does.
func (c *checker) mayClaim(m *Mailbox) bool {
	home, err := m.home()
	return err == nil && (home.Host == "" || home.Host.Same(c.s.host))
}

// mends is what mends what stands in m: gc, where this host works it.
func (c *checker) mends(m *Mailbox) Mend {
	if home, err := m.home(); err == nil && home.Host.Same(c.s.host) {
		return MendGC
	}
	return MendNone
}
