package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"xfer/internal/durable"
)

// Whose mailbox it is: everything after delivery belongs to the home, the host
// whose claim has the highest number. Claims are numbers and not times, so
// that no clock decides.

// homes remembers who the home is for as long as live/ has not changed, and
// for a second at most: two changes within the grain of the directory's time
// look like one.
type homes struct {
	mu    sync.Mutex
	stamp string
	read  time.Time
	home  Live
	stale bool // home is this host, and its live file says less than it claimed
}

const rereadHome = time.Second

// Home is the host that works the mailbox; empty where nobody has claimed it.
func (m *Mailbox) Home() (Host, error) {
	l, err := m.home()
	return l.Host, err
}

func (m *Mailbox) home() (Live, error) {
	m.homes.mu.Lock()
	defer m.homes.mu.Unlock()
	info, err := os.Lstat(m.liveDir())
	if errors.Is(err, fs.ErrNotExist) {
		return Live{}, nil
	}
	if err != nil {
		return Live{}, err
	}
	stamp := fmt.Sprint(durable.Inode(info), info.ModTime().UnixNano())
	if stamp == m.homes.stamp && time.Since(m.homes.read) < rereadHome {
		return m.homes.home, nil
	}
	lives, err := m.Lives()
	if err != nil {
		return Live{}, err
	}
	own, err := m.ownClaim()
	if err != nil {
		return Live{}, err
	}
	h := &m.homes
	h.stamp, h.read, h.home, h.stale = stamp, time.Now(), Live{}, false
	for _, l := range lives {
		stale := l.Host == m.s.host && l.Claim < own
		if stale {
			l.Claim = own // an rsync brought back an older file
		}
		if l.before(&h.home) {
			h.home, h.stale = l, stale
		}
	}
	return h.home, nil
}

// forget has the claims read again at the next look.
func (m *Mailbox) forget() {
	m.homes.mu.Lock()
	defer m.homes.mu.Unlock()
	m.homes.stamp = ""
}

// stale tells whether this host's live file has to be written anew.
func (m *Mailbox) stale() bool {
	m.homes.mu.Lock()
	defer m.homes.mu.Unlock()
	return m.homes.stale
}

// MayWork says whether this host may move what is in the mailbox; the first
// that asks claims it. With takeover a mailbox that another host works is
// claimed too. The error is ErrElsewhere.
func (m *Mailbox) MayWork(ctx context.Context, takeover bool) error {
	if err := m.mayWrite(); err != nil {
		return err
	}
	home, err := m.home()
	if err != nil {
		return err
	}
	switch here := home.Host.Same(m.s.host); {
	case here && !home.Yields && !m.stale():
		return nil
	case !here && home.Host != "" && !home.Yields && !takeover:
		return m.elsewhere(&home)
	}
	_, err = m.claimHome(ctx, Live{})
	return err
}

// mayWrite is fs.ErrPermission where another user of a shared spool keeps this
// mailbox to themselves: better told before a body is handed out than after.
func (m *Mailbox) mayWrite() error {
	if !m.s.shared {
		return nil
	}
	for _, p := range []Place{New, Cur, Work, Finished} {
		err := unix.Faccessat(unix.AT_FDCWD, m.placeDir(p), unix.W_OK|unix.X_OK, unix.AT_EACCESS)
		if err != nil && err != unix.ENOENT {
			return &Error{Op: "work mailbox", Name: string(m.name), Err: err}
		}
	}
	return nil
}

// mayChange is MayWork for what concerns the mailbox and not what is in it: a
// claim that is made for it yields to the first receiver or take.
func (m *Mailbox) mayChange(ctx context.Context) error {
	home, err := m.home()
	switch {
	case err != nil:
		return err
	case home.Host.Same(m.s.host):
		return nil
	case home.Host != "":
		return &Error{Err: m.worksThere(&home), Hint: "run it there: only the mailbox's home writes its peer.json"}
	}
	_, err = m.claimHome(ctx, Live{Yields: true})
	return err
}

func (m *Mailbox) elsewhere(home *Live) error {
	return &Error{Op: "work mailbox", Name: string(m.name), Err: m.worksThere(home),
		Hint: "one machine in two containers? set XFER_HOST to one name in both. To move it here, stop the receiver there first, then give --takeover"}
}

func (m *Mailbox) worksThere(home *Live) error {
	return Because(ErrElsewhere, fmt.Sprintf("host %q works it, and this is %q", home.Host, m.s.host))
}

// claimHome writes l with a number one above the highest seen, and above any
// that this host has claimed before: an older copy of live/ may have been
// brought back. Where this host is the home already its number stays.
func (m *Mailbox) claimHome(ctx context.Context, l Live) (Live, error) {
	unlock, err := m.s.lock(ctx, m.s.claimLock(m.name), lockWait)
	if err != nil {
		return l, err
	}
	defer unlock()
	m.forget() // another process of this host may have claimed it
	home, err := m.home()
	if err != nil {
		return l, err
	}
	own, err := m.ownClaim()
	if err != nil {
		return l, err
	}
	l.Host, l.Claim = m.s.host, home.Claim
	if !home.Host.Same(m.s.host) || home.Claim < own || home.Yields {
		l.Claim = max(home.Claim, own) + 1
		if err := m.s.retryMade(func() error {
			return m.s.fs.Replace(m.s.claimFile(m.name), fmt.Appendln(nil, l.Claim), false)
		}, m.s.localDir(), m.s.tempDir(), m.s.claimsDir()); err != nil {
			return l, err
		}
	} else if l.State == "" {
		if !m.stale() {
			return l, nil
		}
		l = home
	}
	defer m.forget()
	m.log(event{Event: "claimed", Claim: l.Claim})
	return l, m.writeLive(&l, true)
}

const maxClaimFile = 64 // bytes

// ownClaim is the number of the last claim that this host made on the mailbox.
func (m *Mailbox) ownClaim() (uint64, error) {
	b, err := m.s.readOwn(m.s.claimFile(m.name), maxClaimFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 63)
	if err != nil {
		return 0, nil // a crash left it; the highest number seen is enough
	}
	return n, nil
}
