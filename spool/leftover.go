package spool

import (
	"context"
	"io/fs"
	"path/filepath"
	"time"

	"xfer/internal/durable"
)

// What lies in a spool and may have to go: package reap plans over it and
// sweeps it.

// A LeftoverKind is what a leftover is.
type LeftoverKind string

// The kinds of leftovers.
const (
	LeftTemp      LeftoverKind = "temp file"             // in a mailbox's tmp/
	LeftLocalTemp LeftoverKind = "local temp file"       // in local/tmp
	LeftEdit      LeftoverKind = "edited copy of a card" // in local/tmp, an editor has it, or it was kept
	LeftSpoolTemp LeftoverKind = "temp file of a spool"  // of .stignore or xfer-spool, in the spool itself
	LeftDocument  LeftoverKind = "temp document"         // in local/docs
	LeftFinished  LeftoverKind = "finished handoff"      // in done/
	LeftSetAside  LeftoverKind = "set-aside file"        // in bad/
	LeftReason    LeftoverKind = "reason of nothing"     // in bad/, what it is beside is gone
	LeftNotWhole  LeftoverKind = "incomplete file"       // in new/, cur/ or work/
	LeftMalformed LeftoverKind = "malformed file"        // likewise, and no more bytes would mend it
	LeftMisrouted LeftoverKind = "misrouted handoff"     // likewise, and addressed to another peer
	LeftCopy      LeftoverKind = "copy of a handoff"     // its id also stands further right, or is handled
	LeftConcluded LeftoverKind = "concluded task"        // its conclusion is published
	LeftBeside    LeftoverKind = "half-made spool"       // beside the spool, by a creator that was killed
	LeftStray     LeftoverKind = "stray"                 // a name that is not a handoff's, and holds an id
	LeftLink      LeftoverKind = "registry entry"        // whose handoff has no other name
	LeftKey       LeftoverKind = "idempotency key"       //
	LeftMemory    LeftoverKind = "segment"               // of this host
	LeftPast      LeftoverKind = "segment of a mailbox"  //
	LeftRun       LeftoverKind = "record of a run"       // in local/run
	LeftReleased  LeftoverKind = "release"               // of what is not in work/
	LeftWaiter    LeftoverKind = "waiter's file"         // in local/await
	LeftLiveCopy  LeftoverKind = "conflict copy"         // in live/
	LeftLog       LeftoverKind = "log"                   //
)

// A Leftover is one thing that lies in the spool.
type Leftover struct {
	Kind  LeftoverKind
	Peer  Name // whose mailbox; empty: this host's own
	Place Place
	Name  string // of the file, in its directory
	Size  int64
	At    time.Time // the newest of mtime and ctime
	Inode uint64
	ID    ID   // that it is about; may be empty
	Live  bool // a temp document or run whose handoff is unfinished
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
	case LeftSpoolTemp:
		return r.s.dir
	case LeftBeside:
		return filepath.Dir(besideOf(r.s.dir))
	case LeftTemp:
		return m.tmpDir()
	case LeftPast:
		return m.pastDir()
	case LeftLiveCopy:
		return m.liveDir()
	case LeftLocalTemp, LeftEdit:
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

func leftoverAt(l Leftover, info fs.FileInfo) Leftover {
	l.Size, l.At, l.Inode = info.Size(), newest(info), durable.Inode(info)
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
