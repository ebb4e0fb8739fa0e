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
	home, err := m.home()
	if err != nil {
		return err
	}
	if home.Host.Same(m.s.host) && !m.stale() {
		return nil
	}
	if home.Host != "" && !home.Host.Same(m.s.host) && !takeover {
		return m.elsewhere(home.Host)
	}
	_, err = m.claimHome(ctx, Live{})
	return err
}

// mayChange is MayWork for what concerns the mailbox and not what is in it:
// where there is no home yet, this host claims.
func (m *Mailbox) mayChange() error { return m.MayWork(context.Background(), false) }

func (m *Mailbox) elsewhere(h Host) error {
	return &Error{Op: "work mailbox", Name: string(m.name), Err: Because(ErrElsewhere, fmt.Sprintf("host %q works it, and this is %q", h, m.s.host)),
		Hint: "one machine in two containers? set XFER_HOST to one name in both. To move it here, stop the receiver there first, then give --takeover"}
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
	if !home.Host.Same(m.s.host) || home.Claim < own {
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
	return l, m.writeLive(&l, true)
}

// ownClaim is the number of the last claim that this host made on the mailbox.
func (m *Mailbox) ownClaim() (uint64, error) {
	b, err := durable.ReadRegular(m.s.claimFile(m.name), 64)
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
