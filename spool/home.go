package spool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"xfer/internal/durable"
)

// Whose mailbox it is: everything after delivery belongs to the home, the host
// whose claim has the highest number. Claims are numbers and not times, so
// that no clock decides.

// A homeClaim is live/HOST.json: HOST's claim on the mailbox.
type homeClaim struct {
	Claim uint64 `json:"claim"`
	Host  Host   `json:"host"`
	State string `json:"state,omitempty"` // of its receiver; empty: it never had one
}

const maxLive = 16 << 10

// homes remembers whose mailbox it is for as long as live/ has not changed.
type homes struct {
	mu    sync.Mutex
	stamp string
	home  homeClaim
}

// Home is the host that works the mailbox; empty where nobody has claimed it.
func (m *Mailbox) Home() (Host, error) {
	c, err := m.home()
	return c.Host, err
}

func (m *Mailbox) home() (homeClaim, error) {
	m.homes.mu.Lock()
	defer m.homes.mu.Unlock()
	info, err := os.Lstat(m.liveDir())
	if errors.Is(err, fs.ErrNotExist) {
		return homeClaim{}, nil
	}
	if err != nil {
		return homeClaim{}, err
	}
	stamp := fmt.Sprint(durable.Inode(info), info.ModTime().UnixNano())
	if stamp == m.homes.stamp {
		return m.homes.home, nil
	}
	claims, err := m.claims()
	if err != nil {
		return homeClaim{}, err
	}
	m.homes.stamp, m.homes.home = stamp, homeClaim{}
	for _, c := range claims {
		if c.before(m.homes.home) {
			m.homes.home = c
		}
	}
	return m.homes.home, nil
}

// before tells whether c comes before o as a home.
func (c homeClaim) before(o homeClaim) bool {
	if c.Claim != o.Claim {
		return c.Claim > o.Claim
	}
	if (c.State != "") != (o.State != "") {
		return c.State != ""
	}
	return cmp.Less(c.Host, o.Host)
}

// claims reads every host's claim. What is no claim, or cannot be read, is
// passed over: a sync tool's copy, a file that is still on its way.
func (m *Mailbox) claims() ([]homeClaim, error) {
	names, err := readNames(m.liveDir())
	if err != nil {
		return nil, err
	}
	var all []homeClaim
	for _, name := range names {
		host, ok := strings.CutSuffix(name, ".json")
		if !ok || nameFault(host) != "" {
			continue
		}
		b, err := durable.ReadRegular(filepath.Join(m.liveDir(), name), maxLive)
		var c homeClaim
		if err != nil || json.Unmarshal(b, &c) != nil || c.Claim == 0 {
			continue
		}
		c.Host = Host(host)
		all = append(all, c)
	}
	return all, nil
}

// MayWork says whether this host may move what is in the mailbox; the first
// that asks claims it. With takeover a mailbox that another host works is
// claimed too. The error is ErrElsewhere.
func (m *Mailbox) MayWork(ctx context.Context, takeover bool) error {
	home, err := m.home()
	if err != nil {
		return err
	}
	if home.Host.Same(m.s.host) {
		return nil
	}
	if home.Host != "" && !takeover {
		return m.elsewhere(home.Host)
	}
	return m.claimIt(ctx, home.Claim)
}

// mayChange is MayWork for what concerns the mailbox and not what is in it:
// where there is no home yet, this host claims.
func (m *Mailbox) mayChange() error { return m.MayWork(context.Background(), false) }

func (m *Mailbox) elsewhere(h Host) error {
	return &Error{Op: "work mailbox", Name: string(m.name), Err: Because(ErrElsewhere, fmt.Sprintf("host %q works it, and this is %q", h, m.s.host)),
		Hint: "one machine in two containers? set XFER_HOST to one name in both. To move it here, stop the receiver there first, then give --takeover"}
}

// claimIt writes a claim one above the highest seen, and above any that this
// host has made before: an older copy of live/ may have been brought back.
func (m *Mailbox) claimIt(ctx context.Context, seen uint64) error {
	unlock, err := m.s.lock(ctx, m.s.claimLock(m.name), lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	own, err := m.ownClaim()
	if err != nil {
		return err
	}
	c := homeClaim{Claim: max(seen, own) + 1, Host: m.s.host}
	if err := m.s.retryMade(func() error {
		return m.s.fs.Replace(m.s.claimFile(m.name), fmt.Appendln(nil, c.Claim), false)
	}, m.s.localDir(), m.s.tempDir(), m.s.claimsDir()); err != nil {
		return err
	}
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return m.s.retryMade(func() error {
		return m.s.fs.Replace(m.liveFile(m.s.host), append(b, '\n'), true)
	}, m.dir, m.liveDir())
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
