package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"xfer/internal/durable"
)

// A Verdict is what can be claimed of a peer. It is about a peer; an outcome
// is about a handoff.
type Verdict string

// The verdicts.
const (
	Running       Verdict = "running"   // the lock is held here, or the home's beat is fresh
	Pending       Verdict = "pending"   // running, but its oldest queued handoff has waited over a minute
	Sleeping      Verdict = "sleeping"  // its receiver stopped cleanly
	Crashed       Verdict = "crashed"   // it never said that it stopped, and the lock is free
	NoRunner      Verdict = "no-runner" // it never had a receiver
	Mismatch      Verdict = "mismatch"  // another machine goes by this host's name, or a newer format
	VerdictUnsure Verdict = "unknown"   // a claim of another host that is stale or cannot be read
)

// pendingAfter is how long a handoff is queued at a running peer before the
// peer counts as pending.
const pendingAfter = time.Minute

// A State is a verdict on a peer with the evidence it rests on.
type State struct {
	Peer     Name
	Verdict  Verdict
	Evidence []string
	Live     Live // what the home's receiver says of itself; zero where nobody claimed
	About    Peer
	Queued   int
	OldestAt time.Time // of what is queued: when the oldest id came here; zero where nothing is
}

// Judge says whether somebody receives for the peer. With backlog it counts
// what is queued; names only are read.
func (m *Mailbox) Judge(backlog bool) (*State, error) {
	st := &State{Peer: m.name}
	var err error
	if st.About, err = m.readPeer(); err != nil && !errors.Is(err, ErrMalformed) {
		return nil, err
	}
	if st.Live, err = m.home(); err != nil {
		return nil, err
	}
	held, err := m.Held()
	if err != nil {
		return nil, err
	}
	if backlog {
		if err := m.countQueued(st); err != nil {
			return nil, err
		}
	}
	st.judge(m, held)
	if st.Verdict == Running && !st.OldestAt.IsZero() && m.s.sys.Now().Sub(st.OldestAt) > pendingAfter {
		st.say("the oldest queued came at " + st.OldestAt.UTC().Format(time.RFC3339))
		st.Verdict = Pending
	}
	return st, nil
}

func (st *State) say(evidence string) { st.Evidence = append(st.Evidence, evidence) }

func (st *State) judge(m *Mailbox, held bool) {
	l := &st.Live
	if held {
		st.Verdict = Running
		st.say("a receiver on this host holds the lock peer." + string(m.name))
		return
	}
	switch here := l.Host.Same(m.s.host); {
	case l.Host == "":
		st.judgeUnclaimed(m)
	case l.Format > liveFormat:
		st.Verdict = Mismatch
		st.say("the claim of host " + string(l.Host) + " has a newer format")
	case l.State == "":
		st.Verdict = NoRunner
		st.say("host " + string(l.Host) + " claimed the mailbox without a receiver")
	case l.State == Stopped:
		st.Verdict = Sleeping
		st.say("the receiver on host " + string(l.Host) + " says that it stopped" + l.when())
	case here:
		st.judgeHere(m)
	default:
		st.judgeThere(m)
	}
}

// judgeUnclaimed judges a mailbox in which no claim can be read: a claim that
// is there all the same may be anybody's.
func (st *State) judgeUnclaimed(m *Mailbox) {
	st.Verdict = NoRunner
	names, err := readNames(m.liveDir())
	if err != nil {
		st.Verdict = VerdictUnsure
		st.say("its claims cannot be read: " + err.Error())
		return
	}
	slices.Sort(names)
	for _, name := range names {
		if host, ok := liveHost(name); ok {
			st.Verdict = VerdictUnsure
			st.say("the claim of host " + string(host) + " cannot be read")
		}
	}
	if st.Verdict == NoRunner {
		st.say("nobody has claimed the mailbox")
	}
}

// judgeHere judges a receiver of this host that does not hold the lock.
func (st *State) judgeHere(m *Mailbox) {
	if m.otherMachine() != nil {
		st.Verdict = Mismatch
		st.say("another machine that calls itself " + string(st.Live.Host) + " gives signs of life")
		return
	}
	st.Verdict = Crashed
	st.say("the receiver on this host gave its last sign of life" + st.Live.when() + ", and never said that it stopped")
	st.say("the lock peer." + string(m.name) + " is free")
}

// judgeThere judges another host's receiver by its beat, and by when the beat
// came here: only one of them says nothing, since clocks differ.
func (st *State) judgeThere(m *Mailbox) {
	beat, came := st.Live.fresh(m)
	st.say("host " + string(st.Live.Host) + " last gave a sign of life" + st.Live.when())
	if beat && came {
		st.Verdict = Running
		return
	}
	st.Verdict = VerdictUnsure
	switch {
	case st.Live.Interval <= 0:
		st.say("it gives none regularly")
	case beat:
		st.say("and that came here long ago")
	case came:
		st.say("and that came here just now: the clocks differ")
	default:
		st.say("it is stale")
	}
}

func (l *Live) when() string {
	if l.BeatAt == nil {
		return ""
	}
	return " at " + l.BeatAt.UTC().Format(time.RFC3339)
}

// freshFor is how many intervals a beat stays fresh, maxFresh for how many
// seconds at most: a Duration ends at 292 years.
const (
	freshFor = 3
	maxFresh = 1e9
)

// fresh tells whether the beat is within three intervals by its own time, and
// whether the file came here within three intervals by this host's.
func (l *Live) fresh(m *Mailbox) (beat, came bool) {
	if l.Interval <= 0 || l.BeatAt == nil {
		return false, false
	}
	// Another host's word: it may be any number.
	within := time.Duration(min(freshFor*l.Interval, maxFresh) * float64(time.Second))
	now := m.s.sys.Now()
	beat = now.Sub(*l.BeatAt).Abs() <= within
	if info, err := os.Lstat(m.liveFile(l.Host)); err == nil {
		came = now.Sub(durable.Changed(info)).Abs() <= within
	}
	return beat, came
}

// otherMachine is ErrElsewhere when another machine receives under this host's
// name: this host's live file was written after this machine started, by one
// with another boot id, and its beat is fresh.
func (m *Mailbox) otherMachine() error {
	lives, err := m.Lives()
	if err != nil {
		return err
	}
	for i := range lives {
		l := &lives[i]
		if !l.Host.Same(m.s.host) || l.BootID == "" || l.BootID == bootID() || l.State == Stopped {
			continue
		}
		info, err := os.Lstat(m.liveFile(l.Host))
		if err != nil || durable.Changed(info).Before(bootTime()) {
			continue // this machine's own, from before it was started again
		}
		if beat, came := l.fresh(m); beat && came {
			return &Error{Op: "receive as", Name: string(m.name), Err: Because(ErrElsewhere, fmt.Sprintf("another machine calls itself %q and receives", l.Host)),
				Hint: "give each machine a name of its own in XFER_HOST"}
		}
	}
	return nil
}

// bootTime is when this machine started (proc_stat(5), btime); zero where it
// cannot be told.
func bootTime() time.Time {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	for line := range strings.Lines(string(b)) {
		if s, ok := strings.CutPrefix(line, "btime "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
			if err == nil {
				return time.Unix(n, 0)
			}
		}
	}
	return time.Time{}
}

// countQueued counts what is queued and dates the oldest of it.
func (m *Mailbox) countQueued(st *State) error {
	l, err := m.scan(New)
	if err != nil {
		return err
	}
	oldest := entry{}
	for _, e := range l.entries {
		if oldest.id == "" || e.id < oldest.id {
			oldest = e
		}
	}
	st.Queued = len(l.entries)
	if oldest.id == "" {
		return nil
	}
	info, err := os.Lstat(m.path(oldest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // received in this moment
	}
	if err != nil {
		return err
	}
	st.OldestAt = durable.Changed(info)
	return nil
}
