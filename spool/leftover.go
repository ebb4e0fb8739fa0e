package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"xfer/internal/durable"
)

// What lies in a spool and may have to go: package reap plans over it and
// sweeps it. The survey reads names and inodes, and headers only of what is
// unfinished; it locks nothing and changes nothing.

// A LeftoverKind is what a leftover is.
type LeftoverKind string

// The kinds of leftovers.
const (
	LeftTemp      LeftoverKind = "temp file"            // in a mailbox's tmp/
	LeftLocalTemp LeftoverKind = "local temp file"      // in local/tmp
	LeftDocument  LeftoverKind = "temp document"        // in local/docs
	LeftFinished  LeftoverKind = "finished handoff"     // in done/
	LeftSetAside  LeftoverKind = "set-aside file"       // in bad/
	LeftNotWhole  LeftoverKind = "incomplete file"      // in new/, cur/ or work/
	LeftCopy      LeftoverKind = "copy of a handoff"    // its id also stands further right, or is handled
	LeftConcluded LeftoverKind = "concluded task"       // its conclusion is published
	LeftStray     LeftoverKind = "stray"                // a name that is not a handoff's, and holds an id
	LeftLink      LeftoverKind = "registry entry"       // whose handoff has no other name
	LeftKey       LeftoverKind = "idempotency key"      //
	LeftMemory    LeftoverKind = "segment"              // of this host
	LeftPast      LeftoverKind = "segment of a mailbox" //
	LeftRun       LeftoverKind = "record of a run"      // in local/run
	LeftReleased  LeftoverKind = "release"              // of what is not in work/
	LeftWaiter    LeftoverKind = "waiter's file"        // in local/await
	LeftLiveCopy  LeftoverKind = "conflict copy"        // in live/
	LeftLog       LeftoverKind = "log"                  //
)

// A Leftover is one thing that lies in the spool.
type Leftover struct {
	Kind  LeftoverKind
	Peer  Name // whose mailbox; empty: this host's own
	Place Place
	Name  string // of the file, in its directory
	Size  int64
	At    time.Time // the newest of mtime and ctime
	ID    ID        // that it is about; may be empty
	Live  bool      // a temp document or run whose handoff is unfinished
}

// A Reaping is one gc at work. No two run at once on a host.
type Reaping struct {
	s      *Spool
	unlock func()
}

// Reap begins to reap: the error is ErrLocked while another gc runs here.
func (s *Spool) Reap(ctx context.Context) (*Reaping, error) {
	unlock, err := s.lock(ctx, s.gcLock(), 0)
	if err != nil {
		return nil, err
	}
	return &Reaping{s, unlock}, nil
}

// Close ends it.
func (r *Reaping) Close() { r.unlock() }

// Path is where a leftover lies.
func (r *Reaping) Path(l *Leftover) string { return filepath.Join(r.dir(l), l.Name) }

// dir is the directory that l lies in.
func (r *Reaping) dir(l *Leftover) string {
	m := &Mailbox{s: r.s, name: l.Peer, dir: r.s.peerDir(l.Peer)}
	switch l.Kind {
	case LeftTemp:
		return m.tmpDir()
	case LeftPast:
		return m.pastDir()
	case LeftLiveCopy:
		return m.liveDir()
	case LeftLocalTemp:
		return r.s.tempDir()
	case LeftDocument:
		return r.s.docsDir()
	case LeftLink:
		return r.s.shardDir(l.ID)
	case LeftKey:
		return r.s.keyDir()
	case LeftMemory:
		return r.s.idsDir()
	case LeftRun:
		return r.s.runDir()
	case LeftReleased:
		return r.s.releasedDir()
	case LeftWaiter:
		return r.s.awaitDir()
	case LeftLog:
		return r.s.logDir()
	}
	return m.placeDir(l.Place)
}

// A surveyor is one survey.
type surveyor struct {
	*Reaping
	ctx        context.Context //nolint:containedctx // it lives as long as one call
	see        func(Leftover) error
	unfinished map[ID]bool
}

// Survey calls see with everything that may have to go, in an order in which
// space is freed before any is needed: temp files, documents and logs first.
// Mailboxes that another host works are passed over, but for their tmp/, which
// is never synced. The error is see's, the context's, or the system's.
func (r *Reaping) Survey(ctx context.Context, see func(Leftover) error) error {
	v := &surveyor{Reaping: r, ctx: ctx, see: see, unfinished: make(map[ID]bool)}
	peers, err := r.s.Peers()
	if err != nil {
		return err
	}
	var all, mine []*Mailbox
	for _, n := range peers {
		m, err := r.s.Mailbox(n)
		if err != nil {
			continue // told by doctor
		}
		all = append(all, m)
		home, err := m.home()
		if err != nil {
			return err
		}
		if home.Host.Same(r.s.host) {
			mine = append(mine, m)
		}
	}
	if err := v.note(all); err != nil {
		return err
	}
	if err := v.space(all); err != nil {
		return err
	}
	for _, m := range mine {
		if err := v.mailbox(m); err != nil {
			return err
		}
	}
	return v.memory()
}

// note remembers which ids are unfinished anywhere.
func (v *surveyor) note(all []*Mailbox) error {
	for _, m := range all {
		for _, p := range []Place{New, Cur, Work} {
			l, err := m.scan(p)
			if err != nil {
				return err
			}
			for _, e := range l.entries {
				v.unfinished[e.id] = true
			}
		}
	}
	return nil
}

// space surveys what takes space and is not needed.
func (v *surveyor) space(all []*Mailbox) error {
	for _, m := range all {
		if err := v.each(Leftover{Kind: LeftTemp, Peer: m.name}, func(l *Leftover) bool {
			l.ID = leadingID(l.Name)
			return true
		}); err != nil {
			return err
		}
	}
	for _, l := range []Leftover{{Kind: LeftLocalTemp}, {Kind: LeftDocument}, {Kind: LeftLog}, {Kind: LeftWaiter}, {Kind: LeftRun}, {Kind: LeftReleased}} {
		if err := v.each(l, func(l *Leftover) bool {
			l.ID = leadingID(l.Name)
			l.Live = v.unfinished[l.ID]
			return l.Kind != LeftLocalTemp || !strings.HasPrefix(l.Name, "card.") // the board's, which merges them
		}); err != nil {
			return err
		}
	}
	return nil
}

// mailbox surveys one mailbox of this host.
func (v *surveyor) mailbox(m *Mailbox) error {
	for _, p := range []Place{New, Cur, Work} {
		if err := v.unfinishedIn(m, p); err != nil {
			return err
		}
	}
	if err := v.each(Leftover{Kind: LeftFinished, Peer: m.name, Place: Finished}, v.standing); err != nil {
		return err
	}
	if err := v.each(Leftover{Kind: LeftSetAside, Peer: m.name, Place: Bad}, v.standing); err != nil {
		return err
	}
	if err := v.each(Leftover{Kind: LeftPast, Peer: m.name}, isSegment); err != nil {
		return err
	}
	return v.each(Leftover{Kind: LeftLiveCopy, Peer: m.name}, func(l *Leftover) bool { return strings.Contains(l.Name, "conflict") })
}

func isSegment(l *Leftover) bool { return strings.HasSuffix(l.Name, segSuffix) }

// standing fills in the id of what stands in a place, or makes it a stray.
func (v *surveyor) standing(l *Leftover) bool {
	if id, ok := parseFile(l.Place, l.Name); ok {
		l.ID = id
		return true
	}
	if l.Place == Bad && isAside(l.Name) {
		return !strings.HasSuffix(l.Name, reasonSuffix) // it goes with what it is beside
	}
	l.Kind, l.ID = LeftStray, idWithin(l.Name)
	return l.ID != ""
}

// unfinishedIn surveys a place of what is unfinished. A whole handoff that is
// nothing but unfinished is no leftover.
func (v *surveyor) unfinishedIn(m *Mailbox, p Place) error {
	return v.each(Leftover{Peer: m.name, Place: p}, func(l *Leftover) bool {
		if !v.standing(l) || l.Kind == LeftStray {
			return l.Kind == LeftStray
		}
		l.Kind = v.unfinishedKind(m, entry{l.ID, p, l.Name})
		return l.Kind != ""
	})
}

func (v *surveyor) unfinishedKind(m *Mailbox, e entry) LeftoverKind {
	if _, found, err := m.toTheRight(e, v.s.sys.Now()); err == nil && found {
		return LeftCopy
	}
	if f, found, err := m.folded(e.id); err == nil && found && f.Last.Handled() {
		return LeftCopy
	}
	f, err := openFile(m.path(e), e.id)
	if err != nil {
		if errors.Is(err, ErrIncomplete) || errors.Is(err, ErrMalformed) {
			return LeftNotWhole
		}
		return "" // gone, or no regular file: told by doctor
	}
	defer func() { _ = f.Close() }()
	if e.place != Work {
		if _, err := f.Verify(); err != nil {
			return LeftNotWhole
		}
	}
	if f.Kind == Task {
		if first, err := v.s.ConclusionOf(&f.Header); err == nil && first != nil {
			return LeftConcluded
		}
	}
	return ""
}

// memory surveys what is remembered on this host.
func (v *surveyor) memory() error {
	if err := v.s.eachSent(v.ctx, func(id ID) error {
		info, err := os.Lstat(v.s.idFile(id))
		if err != nil || durable.Names(info) > 1 {
			return nil
		}
		return v.see(leftoverAt(Leftover{Kind: LeftLink, ID: id, Name: string(id)}, info))
	}); err != nil {
		return err
	}
	if err := v.each(Leftover{Kind: LeftKey}, func(*Leftover) bool { return true }); err != nil {
		return err
	}
	return v.each(Leftover{Kind: LeftMemory}, isSegment)
}

// each sees every name in the directory of like that is meant.
func (v *surveyor) each(like Leftover, meant func(*Leftover) bool) error {
	dir := v.dir(&like)
	names, err := readNames(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		info, err := os.Lstat(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		l := leftoverAt(like, info)
		l.Name = name
		if !info.Mode().IsRegular() || !meant(&l) {
			continue
		}
		if err := v.see(l); err != nil {
			return err
		}
	}
	return nil
}

func leftoverAt(l Leftover, info fs.FileInfo) Leftover {
	l.Size, l.At = info.Size(), newest(info)
	return l
}

// newest is the newest of mtime and ctime: what a copying tool gives an old
// mtime came here just now.
func newest(info fs.FileInfo) time.Time {
	if c := durable.Changed(info); c.After(info.ModTime()) {
		return c
	}
	return info.ModTime()
}

// leadingID is the id that a name begins with, if it does.
func leadingID(name string) ID {
	if len(name) >= idLen && isID(name[:idLen]) {
		return ID(name[:idLen])
	}
	return ""
}

// idWithin is the first id within a name, as sync tools and editors put
// something before and behind it.
func idWithin(name string) ID {
	for i := 0; i+idLen <= len(name); i++ {
		if isID(name[i : i+idLen]) {
			return ID(name[i : i+idLen])
		}
	}
	return ""
}
