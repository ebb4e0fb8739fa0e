package spool

import (
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"xfer/internal/durable"
)

// Peer is what peer.json says of a mailbox. A mailbox without one is open to
// all.
type Peer struct {
	Description string     `json:"description,omitempty"`
	Hold        bool       `json:"hold,omitempty"`       // new/ is left as it is
	RemovedAt   *time.Time `json:"removed_at,omitempty"` // a tombstone: nothing is taken in any more
}

// MaxDescription is the most characters that a description has.
const MaxDescription = 500

const maxPeerFile = 64 << 10

// Peer reads peer.json. One that cannot be read is ErrMalformed: nobody is let
// in by a policy that is not known.
func (m *Mailbox) Peer() (Peer, error) {
	var p Peer
	b, err := durable.ReadRegular(m.peerFile(), maxPeerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, Because(ErrMalformed, "its peer.json cannot be read")
	}
	return p, nil
}

// setPeer writes peer.json anew.
func (m *Mailbox) setPeer(p Peer) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return m.retry(func() error { return m.s.fs.Replace(m.peerFile(), append(b, '\n'), true) })
}

// Create makes the mailbox of n where there is none and lifts a tombstone. A
// description that is not empty is written down.
func (s *Spool) Create(n Name, description string) (m *Mailbox, made bool, err error) {
	m, err = s.Mailbox(n)
	if errors.Is(err, ErrNoPeer) {
		made = true
		m, err = s.MakeMailbox(n)
	}
	if err == nil {
		err = m.make()
	}
	if err != nil {
		return nil, false, err
	}
	p, err := m.Peer()
	if err != nil {
		return nil, false, err
	}
	if p.RemovedAt == nil && (description == "" || description == p.Description) {
		return m, made, nil
	}
	if err := m.mayChange(); err != nil {
		return nil, false, err
	}
	p.RemovedAt = nil
	if description != "" {
		p.Description = description
	}
	return m, made, m.setPeer(p)
}
