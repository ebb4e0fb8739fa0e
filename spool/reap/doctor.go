package reap

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"xfer/spool"
	"xfer/spool/board"
)

// A Finding is one thing that doctor has to say. Its fields are all it can
// say: names, ids, paths and figures; there is none for a subject or a body.
type Finding struct {
	Check    string
	Severity spool.Severity
	Path     string // below the spool
	Message  string
	Remedy   string // a command or setting; may be empty
}

// A Doctor looks at one spool.
type Doctor struct {
	S    *spool.Spool
	Now  func() time.Time
	Home string // the user's, to look for Syncthing's configuration
	Deep bool   // read every body
	Tell func(Finding)
}

// Run tells everything that it finds. The error is that of a directory that
// could not be read, or the context's.
func (d *Doctor) Run(ctx context.Context) error {
	check := d.S.CheckQuick
	if d.Deep {
		check = d.S.Check
	}
	found, err := check(ctx)
	for _, f := range found {
		d.Tell(Finding{f.Check, f.Severity, f.Path, f.Message, d.remedy(f)})
	}
	if err != nil {
		return err
	}
	for _, look := range []func(context.Context) error{d.peers, d.overdue, d.cards, d.sync, d.filesystem, d.segments} {
		if err := look(ctx); err != nil {
			return err
		}
	}
	return nil
}

// remedy is what to type about a broken invariant.
func (d *Doctor) remedy(f spool.Finding) string {
	switch f.Check {
	case "layout":
		if f.Severity == spool.Warning {
			return "xfer-gc doctor --repair"
		}
	case "registry":
		if f.Severity != spool.Note {
			return "xfer-gc doctor --repair"
		}
	case "handoff", "double":
		if f.Severity != spool.Note {
			return "xfer-gc"
		}
	case "set-aside":
		return "look at " + filepath.Join(d.S.Dir(), f.Path)
	}
	return ""
}

// Thresholds of what is worth a word.
const (
	overdueAfter = 24 * time.Hour
	manyQueued   = 1000
	littleFree   = 5 // per cent
)

// peers looks at who receives, and how much waits.
func (d *Doctor) peers(ctx context.Context) error {
	names, err := d.S.Peers()
	if err != nil {
		return err
	}
	for _, n := range names {
		m, err := d.S.Mailbox(n)
		if err != nil {
			d.Tell(Finding{"peer", spool.Fault, "peers/" + string(n), err.Error(), ""})
			continue
		}
		st, err := m.Judge(true)
		if err != nil {
			return err
		}
		d.peer(m, st)
	}
	return nil
}

func (d *Doctor) peer(m *spool.Mailbox, st *spool.State) {
	path := "peers/" + string(st.Peer)
	if _, err := m.Peer(); err != nil {
		d.Tell(Finding{"policy", spool.Fault, path, "nobody is let in: " + err.Error(), "xfer-inbox --as " + string(st.Peer) + " unhold"})
	}
	switch st.Verdict {
	case spool.Crashed:
		d.Tell(Finding{"receiver", spool.Warning, path, "its receiver crashed", "xfer-recv --as " + string(st.Peer)})
	case spool.Mismatch:
		d.Tell(Finding{"receiver", spool.Fault, path, st.Evidence[len(st.Evidence)-1], "set XFER_HOST to another name on one of the machines"})
	}
	switch {
	case st.About.RemovedAt != nil && st.Queued > 0:
		d.Tell(Finding{"tombstone", spool.Note, path, fmt.Sprintf("%d arrived after it was removed", st.Queued), "xfer-inbox --as " + string(st.Peer) + " create"})
	case st.Queued > 0 && d.Now().Sub(st.OldestAt) > overdueAfter:
		d.Tell(Finding{"backlog", spool.Warning, path, fmt.Sprintf("%d queued, the oldest since %s", st.Queued, st.OldestAt.UTC().Format(time.RFC3339)), "xfer-inbox --as " + string(st.Peer) + " list"})
	case st.Queued > manyQueued:
		d.Tell(Finding{"backlog", spool.Note, path, fmt.Sprintf("%d queued", st.Queued), ""})
	}
}

// overdue looks at tasks that were taken long ago.
func (d *Doctor) overdue(ctx context.Context) error {
	names, err := d.S.Peers()
	if err != nil {
		return err
	}
	for _, n := range names {
		m, err := d.S.Mailbox(n)
		if err != nil {
			continue
		}
		taken, err := m.TakenBefore(ctx, d.Now().Add(-overdueAfter))
		if err != nil {
			return err
		}
		for _, id := range taken {
			d.Tell(Finding{"overdue", spool.Warning, "peers/" + string(n) + "/work/" + string(id), "taken over a day ago, and not concluded",
				"xfer-inbox --as " + string(n) + " release " + string(id)})
		}
	}
	return nil
}

// cards looks at the board.
func (d *Doctor) cards(context.Context) error {
	v, err := board.Open(d.S).Survey()
	if err != nil {
		return err
	}
	for _, f := range v.Broken {
		d.card(f, spool.Fault, "cannot be read: mend it with an editor", "")
	}
	for _, f := range append(v.Copies, v.Left...) {
		if f.Err != nil {
			d.card(f, spool.Warning, "a copy that cannot be merged", "")
		} else {
			d.card(f, spool.Note, "a copy that is merged when its card is next read", "xfer-gc")
		}
	}
	return nil
}

func (d *Doctor) card(f board.Finding, s spool.Severity, message, remedy string) {
	path := f.Path
	if rel, err := filepath.Rel(d.S.Dir(), path); err == nil {
		path = rel
	}
	d.Tell(Finding{"card", s, path, message, remedy})
}

// sync looks at what makes a sync tool dangerous.
func (d *Doctor) sync(context.Context) error {
	lacks, err := d.S.IgnoreLacks()
	if err != nil {
		return err
	}
	if len(lacks) > 0 {
		d.Tell(Finding{"sync", spool.Warning, ".stignore", "it lacks the line " + lacks[0], "xfer-gc doctor --repair"})
	}
	if err := d.S.FolderFault(); err != nil {
		d.Tell(Finding{"sync", spool.Fault, ".", err.Error(), hintOf(err)})
	}
	for _, f := range syncthingFaults(d.Home, d.S.Dir()) {
		d.Tell(f)
	}
	return nil
}

// nfsMagic is NFS_SUPER_MAGIC of statfs(2).
const nfsMagic = 0x6969

// filesystem looks at what the spool lies on.
func (d *Doctor) filesystem(context.Context) error {
	if !d.S.HardLinks() {
		d.Tell(Finding{"filesystem", spool.Note, ".", "it makes no hard links: the registry keeps records instead", ""})
	}
	var st unix.Statfs_t
	if err := unix.Statfs(d.S.Dir(), &st); err != nil {
		return err
	}
	if st.Type == nfsMagic {
		d.Tell(Finding{"filesystem", spool.Warning, ".", "it is NFS: locks reach other hosts only with a working lock daemon", ""})
	}
	if st.Blocks > 0 && st.Bavail*100/st.Blocks < littleFree {
		d.Tell(Finding{"space", spool.Warning, ".", fmt.Sprintf("%d per cent of the filesystem is free", st.Bavail*100/st.Blocks), "xfer-gc"})
	}
	if st.Files > 0 && st.Ffree*100/st.Files < littleFree {
		d.Tell(Finding{"space", spool.Warning, ".", fmt.Sprintf("%d per cent of the filesystem's inodes are free", st.Ffree*100/st.Files), "xfer-gc"})
	}
	return nil
}

// segments looks at what is remembered, and at what never ages.
func (d *Doctor) segments(ctx context.Context) error {
	torn, err := d.S.TornSegments()
	if err != nil {
		return err
	}
	for _, path := range torn {
		d.Tell(Finding{"segment", spool.Warning, path, "cut off: what it remembers is not found", "wait for the sync tool, or restore it from a backup"})
	}
	young, err := d.S.NeverAging(ctx, d.Now())
	if err != nil {
		return err
	}
	if young > 0 {
		d.Tell(Finding{"age", spool.Note, ".", fmt.Sprintf("%d finished handoffs look new although they are old: a backup by hard links renews them", young), "copy with rsync --link-dest from a snapshot, or leave out the spool"})
	}
	return nil
}

// Repair mends what can be mended without a decision: .stignore, modes, and the
// registry, which is rebuilt from the places.
func (d *Doctor) Repair(ctx context.Context) (did []string, err error) {
	if err := d.S.RepairIgnore(); err != nil {
		return did, err
	}
	n, err := d.S.RepairModes(ctx)
	if n > 0 {
		did = append(did, fmt.Sprintf("set the modes of %d files", n))
	}
	if err != nil {
		return did, err
	}
	n, err = d.S.RebuildRegistry(ctx)
	if n > 0 {
		did = append(did, fmt.Sprintf("entered %d handoffs into the registry", n))
	}
	return did, err
}
