package spool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"xfer/internal/durable"
)

// Receiving: a receiver holds a name for its whole life by an exclusive lock on
// local/lock/peer.NAME. Liveness on this host is that lock and nothing else.
// It announces each handoff and then moves it to cur/; what was announced and
// not moved is announced again by the next one.

// A Receiver holds the name of a peer and works its mailbox.
type Receiver struct {
	m      *Mailbox
	unlock func()

	mu     sync.Mutex
	live   Live
	closed bool

	announced map[ID]bool      // what this process announced and has seen in cur/
	passed    map[ID]bool      // what a handler works on, or is to try later
	left      map[string]stamp // what it looked at and left: not looked at again before it changes
	strays    int              // told of

	policy struct { // what peer.json said
		stamps [2]stamp
		known  bool // until the stamps change
		hold   bool
	}
}

// A stamp is what changes when a file does.
type stamp struct {
	inode          uint64
	size           int64
	changed, wrote time.Time
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{durable.Inode(info), info.Size(), durable.Changed(info), info.ModTime()}
}

// ReceiverOptions are how a name is held.
type ReceiverOptions struct {
	Takeover bool          // claim the mailbox although another host works it
	Beat     time.Duration // between two signs of life; 0: none
}

// Receive holds the mailbox's name until Close. The errors are ErrLocked while
// a receiver here holds it, and ErrElsewhere while another host works the
// mailbox.
func (m *Mailbox) Receive(ctx context.Context, o ReceiverOptions) (*Receiver, error) {
	unlock, err := m.s.lock(ctx, m.s.peerLock(m.name), lockWait)
	if errors.Is(err, ErrLocked) {
		return nil, &Error{Op: "receive as", Name: string(m.name), Err: Because(ErrLocked, "a receiver here holds the name"+m.holder())}
	}
	if err != nil {
		return nil, &Error{Op: "receive as", Name: string(m.name), Err: err}
	}
	r := &Receiver{m: m, unlock: unlock, announced: make(map[ID]bool), passed: make(map[ID]bool), left: make(map[string]stamp)}
	if err := r.claim(ctx, o); err != nil {
		unlock()
		return nil, err
	}
	m.log(event{Event: "receiver started", Claim: r.live.Claim})
	return r, nil
}

// holder names the process that holds the name: as the kernel says, else as
// the receiver says itself.
func (m *Mailbox) holder() string {
	pid, _ := durable.Holder(m.s.peerLock(m.name))
	if pid == 0 {
		home, err := m.home()
		if err != nil || home.PID == 0 || home.State == Stopped || !home.Host.Same(m.s.host) {
			return ""
		}
		pid = home.PID
	}
	return fmt.Sprintf(" (process %d)", pid)
}

func (r *Receiver) claim(ctx context.Context, o ReceiverOptions) error {
	home, err := r.m.home()
	if err != nil {
		return err
	}
	if home.Host != "" && !home.Host.Same(r.m.s.host) && !home.Yields && !o.Takeover {
		return r.m.elsewhere(&home)
	}
	if err := r.m.otherMachine(); err != nil {
		return err
	}
	now := r.m.s.sys.Now().UTC()
	r.live, err = r.m.claimHome(ctx, Live{State: Idle, PID: os.Getpid(), BootID: bootID(), StartedAt: &now, BeatAt: &now, Interval: o.Beat.Seconds()})
	return err
}

// Mailbox is the mailbox that is received.
func (r *Receiver) Mailbox() *Mailbox { return r.m }

// Beat says that the receiver is alive, unless it was closed; it syncs nothing.
func (r *Receiver) Beat() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil // the next holder of the name may be writing the file by now
	}
	now := r.m.s.sys.Now().UTC()
	r.live.BeatAt = &now
	return r.m.writeLive(&r.live, false)
}

// Close ends the receiver cleanly: it says so, and gives the name up. The home
// stays.
func (r *Receiver) Close() error {
	defer r.unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if err := r.StillHome(); err != nil {
		return nil // somebody else's claim stands; ours says what it said
	}
	now := r.m.s.sys.Now().UTC()
	r.m.log(event{Event: "receiver stopped"})
	r.live.State, r.live.BeatAt, r.live.Running, r.live.Doing = Stopped, &now, nil, ""
	return r.m.writeLive(&r.live, true)
}

// StillHome is nil as long as this host works the mailbox, and ErrLocked when
// another one has taken it over: the receiver has to step down before it
// commits anything more.
func (r *Receiver) StillHome() error {
	home, err := r.m.home()
	if err != nil {
		return err
	}
	if home.Host != "" && !home.Host.Same(r.m.s.host) {
		return &Error{Op: "receive as", Name: string(r.m.name), Err: Because(ErrLocked, fmt.Sprintf("host %q has taken the mailbox over", home.Host))}
	}
	return nil
}

// Arrivals scans for what this receiver has not announced yet: what stands in
// cur/ first, then new/. Without rescan cur/ is not read: nothing but a mail
// reader, or an older receiver, puts there what was not announced.
func (r *Receiver) Arrivals(rescan bool) (*Queue, error) {
	hold, err := r.hold()
	if err != nil {
		return nil, err
	}
	q := &Queue{m: r.m, held: hold}
	strays := 0
	if rescan {
		l, err := r.m.scan(Cur)
		if err != nil {
			return nil, err
		}
		strays += len(l.strays)
		q.entries = r.unannounced(l.entries)
	}
	if !hold {
		l, err := r.m.scan(New)
		if err != nil {
			return nil, err
		}
		strays += len(l.strays)
		byID(l.entries)
		q.entries = append(q.entries, l.entries...)
	}
	if rescan && strays != r.strays {
		r.strays, q.strays = strays, strays
	}
	q.entries = slices.DeleteFunc(q.entries, func(e entry) bool { return r.passes(e.id) || r.leaves(e) })
	return q, nil
}

// Came is Arrivals of what was seen to come to new/: it looks at nothing else,
// however much is there.
func (r *Receiver) Came(ids []ID) (*Queue, error) {
	hold, err := r.hold()
	q := &Queue{m: r.m, held: hold}
	if err != nil || hold {
		return q, err
	}
	for _, id := range ids {
		if e := (entry{id, New, string(id)}); !r.passes(id) && !r.leaves(e) {
			q.entries = append(q.entries, e)
		}
	}
	byID(q.entries)
	return q, nil
}

// hold tells whether the peer is on hold, as of now: peer.json is read again
// where it, or what stands beside it, has changed.
func (r *Receiver) hold() (bool, error) {
	stamps, settled, err := r.m.peerStamps()
	if err != nil {
		return false, err
	}
	if r.policy.known && r.policy.stamps == stamps {
		return r.policy.hold, nil
	}
	peer, err := r.m.Peer()
	if err != nil {
		return false, err
	}
	r.policy.stamps, r.policy.known, r.policy.hold = stamps, settled, peer.Hold
	return peer.Hold, nil
}

// peerStamps are those of the mailbox's directory and of peer.json, and settled
// tells whether they are old enough for any change to show.
func (m *Mailbox) peerStamps() (stamps [2]stamp, settled bool, err error) {
	settled = true
	for i, path := range []string{m.dir, m.peerFile()} {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return stamps, false, err
		}
		stamps[i] = stampOf(info)
		settled = settled && time.Since(durable.Changed(info)) >= time.Second
	}
	return stamps, settled, nil
}

// leaves tells whether e was left where it is before, and has not changed
// since.
func (r *Receiver) leaves(e entry) bool {
	before, known := r.left[r.m.path(e)]
	if !known {
		return false
	}
	info, err := os.Lstat(r.m.path(e))
	if err == nil && stampOf(info) == before {
		return true
	}
	delete(r.left, r.m.path(e))
	return false
}

// Next is what comes next of what arrived, claimed, up to limit (0: as much as
// is well announced together); none at the end. What is left where it is, is
// not looked at again before it changes.
func (r *Receiver) Next(ctx context.Context, q *Queue, limit int) (claims []*Claim, err error) {
	if limit == 0 {
		limit = r.together()
	}
	claims, err = q.NextGroup(ctx, limit)
	maps.Copy(r.left, q.left)
	q.left = nil
	return claims, err
}

// How many handoffs share one write, one sync and one reading of cur/. The
// fuller cur/ is, the more have to share it, so that each costs the same: as
// much as reading readFor names. Each keeps a file open.
const (
	leastTogether = 64
	mostTogether  = 2048
	readFor       = 16
)

func (r *Receiver) together() int {
	most := min(mostTogether, durable.MostOpen()/2)
	return max(min(len(r.announced)/readFor, most), leastTogether)
}

// unannounced is what of cur/ this process has not announced, and forgets what
// has left cur/.
func (r *Receiver) unannounced(entries []entry) []entry {
	here := make(map[ID]bool, len(r.announced))
	fresh := entries[:0]
	for _, e := range entries {
		if r.announced[e.id] {
			here[e.id] = true
		} else {
			fresh = append(fresh, e)
		}
	}
	r.announced = here
	byID(fresh)
	return fresh
}

func byID(entries []entry) {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
}

// Received commits that claims were announced: each moves to cur/, one sync
// makes all of it durable, and the claims end. What is gone from under its
// claim is passed over; what cannot be moved is returned as an error, after the
// others.
func (r *Receiver) Received(claims []*Claim) error {
	defer func() {
		for _, c := range claims {
			c.Release()
		}
	}()
	if err := r.StillHome(); err != nil {
		return err
	}
	var first error
	var lines []byte
	for _, c := range claims {
		if c.e.place == New {
			err := c.shift(Cur)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
				continue // removed by hand, or its id has just come to cur/ too: the next look sees
			}
			if err != nil {
				first = cmp.Or(first, error(&Error{Op: "receive", Name: string(c.ID), Err: err}))
				continue
			}
			lines = append(lines, c.moved()...)
		}
		r.announced[c.ID] = true
	}
	if len(lines) > 0 {
		r.m.s.appendLog(lines)
		if err := r.m.syncPlace(Cur); err != nil {
			first = cmp.Or(first, err)
		}
	}
	return first
}

// Held tells whether a receiver on this host holds the peer's name. A shared
// lock is tried, so that two that ask at once do not take one another for a
// holder.
func (m *Mailbox) Held() (bool, error) {
	f, _, err := durable.OpenRegular(m.s.peerLock(m.name), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it never had a receiver here
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	free, err := durable.TryShare(f)
	return err == nil && !free, err
}

// CurPath is where the handoff stands once it was received.
func (c *Claim) CurPath() string {
	if c.e.place == Cur {
		return c.m.path(c.e)
	}
	return c.m.file(Cur, c.ID)
}
