package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"xfer/internal/durable"
)

// The claim is a lock, the commit is a rename. Whoever works on a handoff
// holds flock(2) on its file, and every move after delivery is made under it;
// the kernel frees it when the process dies, so there are no leases and no
// clocks. After the lock is had: the path still names the same inode, and no
// copy of the id stands to the right.

// A Claim is a handoff that this process has locked. It ends with Release, or
// with the process.
type Claim struct {
	*File
	m *Mailbox
	e entry
}

// What a reader meets in a place and does not get. Each but errBusy was dealt
// with, or is to be left where it is.
var (
	errBusy  = errors.New("another process has it") // ErrLocked to whoever asked for it by name
	errGone  = errors.New("it has moved")
	errGhost = errors.New("already handled")
	errAside = errors.New("set aside")
)

// claim locks e for this process, or says why it is not to be had. What cannot
// be a handoff for this mailbox is set aside or dropped here, and the error
// says so. An incomplete one stays as it is (ErrIncomplete), and so does what
// is no regular file.
func (m *Mailbox) claim(e entry) (*Claim, error) {
	l, err := m.lockEntry(e)
	if err != nil {
		return nil, err
	}
	return m.claimLocked(l, &glance{since: time.Now()})
}

// A lockedEntry is open and locked, and not judged yet.
type lockedEntry struct {
	entry
	f    *os.File
	info fs.FileInfo
}

// lockEntry is the first half of claim.
func (m *Mailbox) lockEntry(e entry) (*lockedEntry, error) {
	f, info, err := durable.OpenRegular(m.path(e), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, durable.ErrReplaced) {
		return nil, errGone
	}
	if err != nil {
		return nil, err
	}
	if err := m.claimOpen(e, f, info); err != nil {
		_ = f.Close()
		return nil, err
	}
	return &lockedEntry{e, f, info}, nil
}

// claimLocked is the second half of claim. What else has the id is looked up
// now, or was at g, when the lock was held already.
func (m *Mailbox) claimLocked(l *lockedEntry, g *glance) (*Claim, error) {
	c, err := m.claimFile(l.entry, l.f, l.info, g)
	if err != nil {
		_ = l.f.Close()
		return nil, err
	}
	return c, nil
}

// claimOpen locks e, which is open as f; info is f's.
func (m *Mailbox) claimOpen(e entry, f *os.File, info fs.FileInfo) error {
	ok, err := durable.TryLock(f)
	if err != nil {
		return err
	}
	if !ok {
		return errBusy
	}
	// The path may have been given to another file while it was locked.
	there, err := os.Lstat(m.path(e))
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	if err != nil {
		return err
	}
	if !os.SameFile(there, info) {
		return errGone
	}
	return nil
}

func (m *Mailbox) claimFile(e entry, f *os.File, info fs.FileInfo, g *glance) (*Claim, error) {
	if right, found, err := m.toTheRight(e, g); err != nil {
		return nil, err
	} else if found {
		return nil, m.ghost(e, f, right)
	}
	if !g.forgotten(e.id) {
		if before, found, err := m.folded(e.id); err != nil {
			return nil, err
		} else if found && before.Last.Handled() {
			return nil, m.foldedGhost(e, f, info, before)
		}
	}
	h, err := readHandoff(f, info, e.id)
	why := whyMalformed
	if err == nil {
		err, why = m.s.original(h), whyDiffers
	}
	switch {
	case errors.Is(err, ErrMalformed):
		to, aerr := m.setAside(e, f, why, err.Error())
		if aerr != nil {
			return nil, aerr
		}
		return nil, Because(errAside, err.Error()+"; set aside as bad/"+to)
	case err != nil:
		return nil, err
	}
	c := &Claim{File: h, m: m, e: e}
	if h.To != m.name {
		return nil, m.misrouted(c)
	}
	return c, nil
}

// toTheRight is the rightmost other place in which e's id stands.
func (m *Mailbox) toTheRight(e entry, g *glance) (right entry, found bool, err error) {
	for _, p := range Places {
		if !p.rightOf(e.place) || g.absent(p, e.id) {
			continue
		}
		r, err := m.stands(p, e.id, g.since)
		if err == nil {
			right, found = r, true
		} else if !errors.Is(err, fs.ErrNotExist) {
			return right, false, err
		}
	}
	return right, found, nil
}

// ghost deals with e, locked and open as f, whose id also stands at right: the
// same handoff is dropped, under the locks of both; another one is set aside
// as differing. Neither touches what stands to the right.
func (m *Mailbox) ghost(e entry, f *os.File, right entry) error {
	rf, rinfo, err := durable.OpenRegular(m.path(right), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return errGone // it went on to the right
	}
	if err != nil {
		return err
	}
	defer func() { _ = rf.Close() }()
	one, err := sameInode(f, rf)
	if err != nil {
		return err
	}
	if !one {
		// Two names of one inode need one lock; two files need two.
		if err := m.claimOpen(right, rf, rinfo); err != nil {
			return err
		}
		same, err := sameHandoff(f, rf, e.id)
		if err != nil {
			return err
		}
		if !same {
			to, err := m.setAside(e, f, whyDiffers, "another handoff has its id: "+string(right.place)+"/"+right.file)
			if err != nil {
				return err
			}
			return Because(errAside, "another handoff has its id, "+string(right.place)+"/"+right.file+" (kept); set aside as bad/"+to)
		}
	}
	if err := durable.Remove(m.path(e)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	m.log(event{Event: "dropped a ghost", ID: e.id, Place: e.place})
	return Because(errGhost, "already handled: it stands in "+string(right.place)+"/; the copy in "+string(e.place)+"/ is dropped")
}

// foldedGhost deals with e, locked and open as f, whose id a segment remembers
// as handled: the same handoff is dropped after its id is folded anew, so that
// the memory outlives what brought it back; another one is set aside.
func (m *Mailbox) foldedGhost(e entry, f *os.File, info fs.FileInfo, before Folded) error {
	h, err := readHandoff(f, info, e.id)
	if err == nil {
		_, err = h.Verify()
	}
	switch {
	case errors.Is(err, ErrMalformed):
	case err != nil:
		return err
	case h.same() == before.Same:
		if err := m.foldAnew(before); err != nil {
			return err
		}
		if err := durable.Remove(m.path(e)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		m.log(event{Event: "dropped a ghost", ID: e.id, Place: e.place})
		return Because(errGhost, "already handled: it was finished and let go; the copy in "+string(e.place)+"/ is dropped")
	}
	to, err := m.setAside(e, f, whyDiffers, "another handoff had its id, and was finished and let go")
	if err != nil {
		return err
	}
	return Because(errAside, "another handoff had its id, and was finished and let go; set aside as bad/"+to)
}

func sameInode(a, b *os.File) (bool, error) {
	ai, err := a.Stat()
	if err != nil {
		return false, err
	}
	bi, err := b.Stat()
	return err == nil && os.SameFile(ai, bi), err
}

// sameHandoff tells whether the left copy, f, is the same handoff as the
// right one. A left copy that is not whole may still be on its way: it stays
// (ErrIncomplete).
func sameHandoff(f, right *os.File, id ID) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	left, err := readHandoff(f, info, id)
	if errors.Is(err, ErrMalformed) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, err := left.Verify(); err != nil {
		return false, err
	}
	rinfo, err := right.Stat()
	if err != nil {
		return false, err
	}
	r, err := readHandoff(right, rinfo, id)
	if errors.Is(err, ErrMalformed) || errors.Is(err, ErrIncomplete) {
		return false, nil
	}
	return err == nil && left.Same(&r.Header), err
}

// misrouted sets aside a handoff that is addressed to another peer. Its sender
// is told first: whoever finds it again after a crash tells the same once more,
// which changes nothing.
func (m *Mailbox) misrouted(c *Claim) error {
	if _, err := c.Verify(); err != nil {
		return err
	}
	told := ""
	if err := m.notice(&c.Header); err != nil {
		told = "; its sender was not told: " + err.Error()
	}
	reason := "it is addressed to " + string(c.To)
	if err := m.setAsideWhole(c, reason); err != nil {
		return err
	}
	return Because(errAside, reason+"; set aside as bad/"+string(c.ID)+told)
}

// notice tells the sender of a handoff that it was found in the wrong mailbox,
// once on all hosts, and never about a notice or a conclusion.
func (m *Mailbox) notice(h *Header) error {
	if h.Kind == Conclusion || h.InReplyTo != "" && h.ID == h.InReplyTo.Misroute() {
		return nil
	}
	w, err := m.s.NewDelivery(Draft{
		ID: h.ID.Misroute(), From: m.name, To: h.From, Kind: Notification, InReplyTo: h.ID, References: h.Chain(),
		Subject: "Misrouted: " + string(h.ID), Type: "text/plain; charset=utf-8",
	})
	if errors.Is(err, ErrNoPeer) {
		return nil // whoever has no mailbox cannot be told
	}
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := fmt.Fprintf(w, "The %s %s is addressed to %s and was found in the mailbox of %s, where it was set aside.\n", h.Kind, h.ID, h.To, m.name); err != nil {
		return err
	}
	_, err = w.Commit(context.Background())
	if errors.Is(err, ErrConflict) {
		return nil // it was told before
	}
	return err
}

// move commits: one rename to the right that replaces nothing, made under the
// lock, and the target synced. Where a mail reader has renamed the file in
// cur/ in the meantime, the same inode is looked for under the same id.
func (c *Claim) move(p Place) error {
	if err := c.rename(p); err != nil {
		return err
	}
	return c.m.syncPlace(p)
}

func (c *Claim) rename(p Place) error {
	err := c.shift(p)
	if err == nil {
		c.m.s.appendLog(c.moved())
	}
	return err
}

// moved is the line of the log about the move that was just made.
func (c *Claim) moved() []byte {
	e := event{Event: "moved", Place: c.e.place, Peer: c.m.name}
	return c.m.s.logLine(e.about(&c.Header))
}

// shift is rename without a line in the log.
func (c *Claim) shift(p Place) error {
	to := c.m.file(p, c.ID)
	err := c.m.retryRename(c.m.path(c.e), to)
	if errors.Is(err, fs.ErrNotExist) {
		if there, lerr := os.Lstat(to); lerr == nil && os.SameFile(there, c.info) {
			err = nil // done although it was reported otherwise: NFS
		} else if e, found := c.movedInCur(); found {
			c.e = e
			err = c.m.retryRename(c.m.path(e), to)
		}
	}
	if err == nil {
		c.e = entry{c.ID, p, string(c.ID)}
	}
	return err
}

// retryRename makes places that are missing, but only when the source is
// there: else its absence would pass for that of the target's directory.
func (m *Mailbox) retryRename(from, to string) error {
	// A place that is a link would lead out of the spool.
	if err := isDir(filepath.Dir(to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := durable.Publish(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := os.Lstat(from); lerr != nil {
			return err
		}
		if err := m.make(); err != nil {
			return err
		}
		err = durable.Publish(from, to)
	}
	return err
}

func (c *Claim) movedInCur() (entry, bool) {
	e, info, err := c.m.at(Cur, c.ID)
	return e, err == nil && os.SameFile(info, c.info)
}

// Release ends the claim, whoever else has inherited the descriptor.
func (c *Claim) Release() {
	_ = durable.Unlock(c.f)
	_ = c.Close()
}
