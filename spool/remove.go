package spool

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"xfer/internal/durable"
)

// Remove ends a peer: a tombstone in peer.json, so that a late sync cannot
// bring it back, and the ids of what was finished folded before the files go.
// What still arrives is refused; Create lifts the tombstone. The error is
// ErrLocked while a receiver here lives or anything is unfinished, and
// ErrElsewhere.
func (m *Mailbox) Remove(ctx context.Context) error {
	unlock, err := m.s.lock(ctx, m.s.peerLock(m.name), lockWait)
	if errors.Is(err, ErrLocked) {
		return &Error{Err: Because(ErrLocked, "a receiver here holds the name"+m.holder()), Hint: "stop it first"}
	}
	if err != nil {
		return err
	}
	defer unlock()
	if err := m.idle(); err != nil {
		return err
	}
	now := m.s.sys.Now().UTC()
	if err := m.MendPeer(ctx, func(p *Peer) { *p = Peer{RemovedAt: &now} }); err != nil {
		return err
	}
	m.log(event{Event: "removed"})
	for _, p := range []Place{Finished, Bad} {
		if err := m.empty(p); err != nil {
			return err
		}
	}
	return nil
}

// Removed is nil unless the peer was removed (ErrNoPeer).
func (m *Mailbox) Removed() error {
	p, err := m.readPeer()
	if err != nil || p.RemovedAt == nil {
		return nil // one that cannot be read does not say so
	}
	return Because(ErrNoPeer, "no such peer: it was removed "+p.RemovedAt.UTC().Format(time.RFC3339))
}

// idle is ErrLocked while something in the mailbox is unfinished.
func (m *Mailbox) idle() error {
	for _, p := range []Place{New, Cur, Work} {
		l, err := m.scan(p)
		if err != nil {
			return err
		}
		if n := len(l.entries); n > 0 {
			return &Error{Err: Because(ErrLocked, strconv.Itoa(n)+" unfinished in "+string(p)+"/"),
				Hint: "'xfer-inbox --as " + string(m.name) + " list' shows them"}
		}
	}
	return nil
}

// empty lets go of all that stands in p: folded first, then unlinked.
func (m *Mailbox) empty(p Place) error {
	l, err := m.scan(p)
	if err != nil {
		return err
	}
	var records []Folded
	for _, e := range l.entries {
		f, err := openFile(m.path(e), e.id)
		if err != nil {
			continue // it says nothing about its id
		}
		records = append(records, Folded{e.id, f.same(), lastOf(p, f.Ending)})
		_ = f.Close()
	}
	if err := m.Fold(records); err != nil {
		return err
	}
	names, err := readNames(m.placeDir(p))
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, ok := parseFile(p, name); !ok && (p != Bad || !isAside(name)) {
			continue // a stray
		}
		if err := durable.Remove(filepath.Join(m.placeDir(p), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
