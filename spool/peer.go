package spool

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"xfer/internal/durable"
)

// Peer is what peer.json says of a mailbox. A mailbox without one is open to
// all.
type Peer struct {
	Description string     `json:"description,omitempty"`
	Hold        bool       `json:"hold,omitempty"`       // new/ is left as it is
	Only        []Name     `json:"only,omitempty"`       // who may send; empty: all
	MaxQueued   int        `json:"max_queued,omitempty"` // how many may be queued; 0: any number
	RemovedAt   *time.Time `json:"removed_at,omitempty"` // a tombstone: nothing is taken in any more
}

// MaxDescription is the most characters that a description has.
const MaxDescription = 500

const maxPeerFile = 64 << 10

// Peer reads peer.json. One that cannot be read, or that has a conflict copy
// beside it, is ErrMalformed: a policy that is not known lets nobody in, until
// it is written again.
func (m *Mailbox) Peer() (Peer, error) {
	if m.batch != nil {
		return m.batch.peer(m)
	}
	return m.lookPeer()
}

func (m *Mailbox) lookPeer() (Peer, error) {
	var p Peer
	copies, err := m.peerCopies()
	if err != nil {
		return p, err
	}
	if len(copies) > 0 {
		return p, m.unreadable("its peer.json has a conflict copy, " + copies[0])
	}
	return m.readPeer()
}

// unreadable is ErrMalformed with what mends it.
func (m *Mailbox) unreadable(why string) error {
	return &Error{Err: Because(ErrMalformed, why),
		Hint: "'xfer-inbox --as " + string(m.name) + " policy all', or 'policy only NAME…', writes it anew"}
}

func (m *Mailbox) readPeer() (Peer, error) {
	var p Peer
	b, err := durable.ReadRegular(m.peerFile(), maxPeerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil && !notRegular(err) && !errors.Is(err, syscall.EFBIG) {
		return p, err
	}
	if err != nil || json.Unmarshal(b, &p) != nil {
		return Peer{}, m.unreadable("its peer.json cannot be read")
	}
	return p, nil
}

// peerCopies are the names of sync tools' conflict copies of peer.json.
func (m *Mailbox) peerCopies() ([]string, error) {
	names, err := readNames(m.dir)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, "peer") || !strings.Contains(name, "conflict")
	}), nil
}

// ChangePeer writes peer.json anew as change makes it. Only the mailbox's home
// does (ErrElsewhere); where there is none yet, this host claims the mailbox,
// and yields it to the first receiver or take. A conflict copy is mended by
// this; a file that cannot be read is ErrMalformed, see MendPeer.
func (m *Mailbox) ChangePeer(ctx context.Context, change func(*Peer)) error {
	return m.changePeer(ctx, false, change)
}

// MendPeer is ChangePeer for what says anew who may send: it also writes over a
// peer.json that cannot be read, of which nothing is kept.
func (m *Mailbox) MendPeer(ctx context.Context, change func(*Peer)) error {
	return m.changePeer(ctx, true, change)
}

func (m *Mailbox) changePeer(ctx context.Context, mend bool, change func(*Peer)) error {
	if err := m.mayChange(ctx); err != nil {
		return err
	}
	unlock, err := m.s.lock(ctx, m.s.claimLock(m.name), lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	p, err := m.readPeer()
	if err != nil && (!mend || !errors.Is(err, ErrMalformed)) {
		return err
	}
	change(&p)
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := m.retry(func() error { return m.s.fs.Replace(m.peerFile(), append(b, '\n'), true) }); err != nil {
		return err
	}
	copies, err := m.peerCopies()
	for _, name := range copies {
		if rerr := durable.Remove(filepath.Join(m.dir, name)); err == nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = rerr
		}
	}
	return err
}

// admits is nil when the mailbox lets in what from sends: the peer was not
// removed, its policy does not turn from down, and it is not full.
func (m *Mailbox) admits(from Name) error {
	p, err := m.Peer()
	switch {
	case err != nil:
		return err
	case p.RemovedAt != nil:
		return Because(ErrRefused, "the peer was removed "+p.RemovedAt.UTC().Format(time.RFC3339))
	case len(p.Only) > 0 && !slices.Contains(p.Only, from):
		return Because(ErrRefused, "its policy does not let "+string(from)+" in")
	case p.MaxQueued > 0:
		return m.hasRoom(p.MaxQueued)
	}
	return nil
}

// hasRoom counts what is queued, and no further than limit.
func (m *Mailbox) hasRoom(limit int) error {
	f, err := durable.OpenDir(m.placeDir(New))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(limit + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(names) >= limit {
		return Because(ErrFull, "its mailbox is full: the limit of queued handoffs is reached")
	}
	return nil
}

// Create makes the mailbox of n where there is none and lifts a tombstone. A
// description that is not empty is written down.
func (s *Spool) Create(ctx context.Context, n Name, description string) (m *Mailbox, made bool, err error) {
	m, made, err = s.MakeMailbox(n)
	if err == nil {
		err = m.make()
	}
	if err != nil {
		return nil, false, err
	}
	p, err := m.readPeer()
	if err != nil {
		return m, made, err
	}
	if p.RemovedAt == nil && (description == "" || description == p.Description) {
		return m, made, nil
	}
	return m, made, m.ChangePeer(ctx, func(p *Peer) {
		p.RemovedAt = nil
		if description != "" {
			p.Description = description
		}
	})
}
