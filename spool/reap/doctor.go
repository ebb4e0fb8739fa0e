package reap

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"xfer/spool"
	"xfer/spool/board"
)

// A Finding is one thing that doctor has to say. A Text is made of phrases and
// facts alone: no subject, body or label can be in one.
type Finding struct {
	Check    string
	Severity spool.Severity
	Path     string // below the spool
	Message  spool.Text
	Remedy   string // a command or setting; may be empty
}

// A Doctor looks at one spool.
type Doctor struct {
	S     *spool.Spool
	Now   func() time.Time
	Home  string // the user's, to look for Syncthing's configuration
	Deep  bool   // read every body
	Reach string // what a remedy's command needs to reach this spool, such as " --spool DIR"
	Tell  func(Finding)
}

func (d *Doctor) say(check string, s spool.Severity, path string, m spool.Text, remedy string) {
	d.Tell(Finding{check, s, path, m, remedy})
}

// gc and inbox are commands for a remedy.
func (d *Doctor) gc(args string) string { return "xfer-gc" + d.Reach + args }

func (d *Doctor) inbox(as spool.Name, args string) string {
	return "xfer-inbox" + d.Reach + " --as " + string(as) + " " + args
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
	switch f.Mend {
	case spool.MendGC:
		return d.gc("")
	case spool.MendRepair:
		return d.gc(" " + string(spool.MendRepair))
	case spool.MendPolicy:
		return d.inbox(f.Peer, "policy all")
	case spool.MendWait:
		return "wait for the sync tool, or have it sent again"
	}
	return ""
}

// cards looks at the board.
func (d *Doctor) cards(context.Context) error {
	v, err := board.Open(d.S).Survey()
	if err != nil {
		return err
	}
	for _, f := range v.Broken {
		d.say("card", spool.Fault, d.below(f.Path), spool.Say("it cannot be read: mend it with an editor"), "")
	}
	for _, f := range slices.Concat(v.Copies, v.Left) {
		if f.Err != nil {
			d.say("card", spool.Warning, d.below(f.Path), spool.Say("a copy that cannot be merged"), "")
			continue
		}
		d.say("card", spool.Note, d.below(f.Path), spool.Say("a copy that is merged when its card is next read"), d.gc(""))
	}
	for _, f := range v.Edits {
		d.say("card", spool.Note, d.below(f.Path), spool.Say("an edit that was not merged whole: remove it when nothing in it is missed"), "")
	}
	for _, path := range v.Strays {
		d.say("card", spool.Note, d.below(path), spool.Say("not a card's name: it is left alone"), "")
	}
	return nil
}

func (d *Doctor) below(path string) string {
	if rel, err := filepath.Rel(d.S.Dir(), path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// sync looks at what makes a sync tool dangerous.
func (d *Doctor) sync(context.Context) error {
	lacks, err := d.S.IgnoreLacks()
	if err != nil {
		return err
	}
	if len(lacks) > 0 {
		d.say("sync", spool.Warning, ".stignore", spool.Say("it lacks the line %s", spool.Setting(lacks[0])), d.gc(" "+string(spool.MendRepair)))
	}
	if err := d.S.FolderFault(); err != nil {
		d.say("sync", spool.Fault, ".", spool.Say("a Syncthing folder's .stignore lets its local/ travel"), hintOf(err))
	}
	for _, f := range syncthingFaults(d.Home, d.S.Dir()) {
		d.Tell(f)
	}
	return d.carried()
}

const littleFree = 5 // per cent

// nfsMagic is NFS_SUPER_MAGIC of statfs(2).
const nfsMagic = 0x6969

// filesystem looks at what the spool lies on.
func (d *Doctor) filesystem(context.Context) error {
	if !d.S.HardLinks() {
		d.say("filesystem", spool.Note, ".", spool.Say("it makes no hard links: the registry keeps records instead"), "")
	}
	var st unix.Statfs_t
	if err := unix.Statfs(d.S.Dir(), &st); err != nil {
		return err
	}
	d.space(&st)
	return nil
}

// space looks at the figures of a filesystem.
func (d *Doctor) space(st *unix.Statfs_t) {
	if st.Type == nfsMagic {
		d.say("filesystem", spool.Note, ".", spool.Say("it is NFS: locks reach other hosts only with a working lock daemon"), "")
	}
	if st.Blocks > 0 && st.Bavail*100/st.Blocks < littleFree {
		d.say("space", spool.Warning, ".", spool.Say("%s per cent of the filesystem is free", spool.Figure(st.Bavail*100/st.Blocks)), d.gc(""))
	}
	if st.Files > 0 && st.Ffree*100/st.Files < littleFree {
		d.say("space", spool.Warning, ".", spool.Say("%s per cent of the filesystem's inodes are free", spool.Figure(st.Ffree*100/st.Files)), d.gc(""))
	}
}

// segments looks at what is remembered, and at what never ages.
func (d *Doctor) segments(ctx context.Context) error {
	torn, err := d.S.TornSegments()
	if err != nil {
		return err
	}
	for _, path := range torn {
		d.say("segment", spool.Warning, path, spool.Say("cut off: what it remembers is not found"), "wait for the sync tool, or restore it from a backup")
	}
	renewed, err := d.S.NeverAging(ctx, d.Now())
	if err != nil {
		return err
	}
	if renewed > 0 {
		d.say("age", spool.Note, ".", spool.Say("%s finished handoffs look new although they are old: a backup by hard links renews them", spool.Figure(renewed)), "leave the spool out of it, or copy from a snapshot")
	}
	return nil
}

// Repair mends what can be mended without a decision: .stignore, modes, this
// host's claims, the registry, which is rebuilt from the places, and what keeps
// a task from being concluded.
func (d *Doctor) Repair(ctx context.Context) (did []string, err error) {
	if err := d.S.RepairIgnore(); err != nil {
		return did, err
	}
	for _, step := range []struct {
		did string
		do  func(context.Context) (int, error)
	}{
		{"modes set", d.S.RepairModes},
		{"claims removed that could not be read", d.S.RepairClaims},
		{"entries of the registry mended", d.S.RebuildRegistry},
		{"ids of conclusions made free", d.S.Unblock},
	} {
		n, err := step.do(ctx)
		if n > 0 {
			did = append(did, fmt.Sprintf("%s: %d", step.did, n))
		}
		if err != nil {
			return did, err
		}
	}
	return did, nil
}
