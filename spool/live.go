package spool

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"xfer/internal/durable"
)

// A Live is live/HOST.json: HOST's claim on the mailbox, and what its receiver
// says of itself. Only the claim decides anything.
type Live struct {
	Format    int        `json:"format,omitempty"` // 0 counts as 1
	Claim     uint64     `json:"claim"`
	Host      Host       `json:"host"`
	Yields    bool       `json:"yields,omitempty"` // to the first receiver or take anywhere
	State     LiveState  `json:"state,omitempty"`  // empty: it never had a receiver
	PID       int        `json:"pid,omitempty"`
	BootID    string     `json:"boot_id,omitempty"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	BeatAt    *time.Time `json:"beat_at,omitempty"`
	Interval  float64    `json:"interval,omitempty"` // seconds between beats; 0: it does not beat
	Running   []ID       `json:"running,omitempty"`  // what handlers work on
	Doing     string     `json:"doing,omitempty"`
}

// A LiveState is what a receiver says of itself.
type LiveState string

// liveFormat is the format of a live file that this package knows.
const liveFormat = 1

// The states of a receiver.
const (
	Idle    LiveState = "idle"
	Busy    LiveState = "busy"
	Stopped LiveState = "stopped" // it ended by itself
)

const maxLive = 16 << 10 // bytes

// maxClaim is the highest claim that is believed: a file that says more would
// leave no number to claim above it.
const maxClaim = 1 << 62

// Lives reads what every host says of itself. What is no such file, or cannot
// be read, is passed over: a sync tool's copy, a file still on its way.
func (m *Mailbox) Lives() ([]Live, error) {
	names, err := readNames(m.liveDir())
	if err != nil {
		return nil, err
	}
	var all []Live
	for _, name := range names {
		host, ok := liveHost(name)
		if !ok {
			continue
		}
		b, err := durable.ReadRegular(filepath.Join(m.liveDir(), name), maxLive)
		var l Live
		if err != nil || json.Unmarshal(b, &l) != nil || l.Claim == 0 || l.Claim > maxClaim {
			continue
		}
		l.Host = host
		all = append(all, l)
	}
	return all, nil
}

// liveHost is whose live file has this name.
func liveHost(name string) (Host, bool) {
	host, ok := strings.CutSuffix(name, ".json")
	return Host(host), ok && nameFault(host) == ""
}

// before tells whether l comes before o as a home: by number; of two that are
// equal, one with a receiver; then the lesser host.
func (l *Live) before(o *Live) bool {
	if l.Claim != o.Claim {
		return l.Claim > o.Claim
	}
	if l.Yields != o.Yields {
		return o.Yields
	}
	if (l.State != "") != (o.State != "") {
		return l.State != ""
	}
	return cmp.Less(l.Host, o.Host)
}

// writeLive writes this host's own live file. A beat needs no sync: what it
// says is stale a minute later.
func (m *Mailbox) writeLive(l *Live, sync bool) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	write := m.s.fs.Replace
	if !sync {
		write = func(path string, data []byte, _ bool) error { return m.s.fs.ReplaceLazily(path, data) }
	}
	return m.s.retryMade(func() error { return write(m.liveFile(m.s.host), append(b, '\n'), true) },
		m.dir, m.liveDir(), m.s.localDir(), m.s.tempDir())
}

// bootID tells one start of this machine from the next (proc_sys_kernel(5)).
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
