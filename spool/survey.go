package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"xfer/internal/durable"
)

// A surveyor is one survey.
type surveyor struct {
	*Reaping
	ctx        context.Context //nolint:containedctx // it lives as long as one call
	settled    time.Time
	see        func(Leftover) error
	unfinished map[ulid.ULID]bool
}

// Survey calls see with everything that may have to go, in an order in which
// space is freed before any is needed: temp files, documents and logs first.
// Mailboxes that another host works are passed over, but for their tmp/, which
// is never synced. Names and inodes are read, and headers only of what is
// unfinished; bodies only of what is unfinished and has not changed since
// settled. Nothing is locked or changed. The error is see's, the context's, or
// the system's.
func (r *Reaping) Survey(ctx context.Context, settled time.Time, see func(Leftover) error) error {
	v := &surveyor{Reaping: r, ctx: ctx, settled: settled, see: see, unfinished: make(map[ulid.ULID]bool)}
	all, mine, err := r.mailboxes()
	if err != nil {
		return err
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

// mailboxes are all that there are, and those that this host works.
func (r *Reaping) mailboxes() (all, mine []*Mailbox, err error) {
	peers, err := r.s.Peers()
	if err != nil {
		return nil, nil, err
	}
	for _, n := range peers {
		m, err := r.s.Mailbox(n)
		if err != nil {
			continue // told by doctor
		}
		all = append(all, m)
		home, err := m.home()
		if err != nil {
			return nil, nil, err
		}
		if home.Host.Same(r.s.host) {
			mine = append(mine, m)
		}
	}
	return all, mine, nil
}

// Mine are the peers whose mailboxes this host works, sorted.
func (r *Reaping) Mine() ([]Name, error) {
	_, mine, err := r.mailboxes()
	names := make([]Name, len(mine))
	for i, m := range mine {
		names[i] = m.name
	}
	return names, err
}

// note remembers which ids are unfinished anywhere.
func (v *surveyor) note(all []*Mailbox) error {
	for _, m := range all {
		l, err := m.scan(New, Cur, Work)
		if err != nil {
			return err
		}
		for _, e := range l.entries {
			v.unfinished[numberOf(e.id)] = true
		}
	}
	return nil
}

func numberOf(id ID) ulid.ULID {
	u, _ := ulid.ParseStrict(string(id)) // an ID is one
	return u
}

// space surveys what takes space and is not needed.
func (v *surveyor) space(all []*Mailbox) error {
	beside := besideOf(v.s.dir)
	if info, err := os.Lstat(beside); err == nil && info.IsDir() {
		if err := v.see(leftoverAt(Leftover{Kind: LeftBeside, Name: filepath.Base(beside)}, info)); err != nil {
			return err
		}
	}
	if err := v.each(Leftover{Kind: LeftSpoolTemp}, func(l *Leftover) bool { return isSpoolTemp(l.Name) }); err != nil {
		return err
	}
	for _, m := range all {
		if err := v.each(Leftover{Kind: LeftTemp, Peer: m.name}, func(l *Leftover) bool {
			l.ID = leadingID(l.Name)
			return true
		}); err != nil {
			return err
		}
	}
	if err := v.each(Leftover{Kind: LeftLocalTemp}, func(l *Leftover) bool {
		// The board merges the ones; the others are their users', for as long as
		// what is set aside.
		if strings.HasPrefix(l.Name, "edit.") {
			l.Kind = LeftEdit
		}
		return !strings.HasPrefix(l.Name, "card.")
	}); err != nil {
		return err
	}
	if err := v.each(Leftover{Kind: LeftLog}, func(l *Leftover) bool { return l.Name == filepath.Base(v.s.logFile()) }); err != nil {
		return err
	}
	for _, kind := range []LeftoverKind{LeftDocument, LeftWaiter, LeftRun, LeftReleased} {
		if err := v.each(Leftover{Kind: kind}, func(l *Leftover) bool {
			l.ID = leadingID(l.Name)
			l.Live = l.ID != "" && v.unfinished[numberOf(l.ID)]
			return true
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
	return v.each(Leftover{Kind: LeftLiveCopy, Peer: m.name}, func(l *Leftover) bool {
		_, ok := liveHost(l.Name)
		return !ok && strings.Contains(l.Name, "conflict")
	})
}

func isSegment(l *Leftover) bool {
	_, ok := SegmentMonth(l.Name)
	return ok
}

// standing fills in the id of what stands in a place, or makes it a stray.
func (v *surveyor) standing(l *Leftover) bool {
	if id, ok := parseFile(l.Place, l.Name); ok {
		l.ID = id
		return true
	}
	if l.Place == Bad && isAside(l.Name) {
		beside, isReason := strings.CutSuffix(l.Name, reasonSuffix)
		if !isReason {
			return true
		}
		l.Kind = LeftReason // goes with what it is beside
		_, err := os.Lstat(filepath.Join(v.dir(l), beside))
		return errors.Is(err, fs.ErrNotExist)
	}
	l.Kind, l.ID = LeftStray, idWithin(l.Name)
	return l.ID != ""
}

// unfinishedIn surveys a place of what is unfinished. A whole handoff that is
// nothing but unfinished is no leftover.
func (v *surveyor) unfinishedIn(m *Mailbox, p Place) error {
	return v.each(Leftover{Peer: m.name, Place: p}, func(l *Leftover) bool {
		if !v.standing(l) {
			return false
		}
		if l.Kind == LeftStray {
			return true
		}
		l.Kind = v.unfinishedKind(m, l)
		return l.Kind != ""
	})
}

func (v *surveyor) unfinishedKind(m *Mailbox, l *Leftover) LeftoverKind {
	e := entry{l.ID, l.Place, l.Name}
	f, err := openFile(m.path(e), e.id)
	if err == nil {
		defer func() { _ = f.Close() }()
		if l.Place != Work && l.At.Before(v.settled) {
			_, err = f.Verify()
		}
	}
	if errors.Is(err, ErrIncomplete) {
		return LeftNotWhole // a copy too: what is cut off cannot be compared
	}
	if _, found, err := m.toTheRight(e, &glance{since: time.Now()}); err == nil && found {
		return LeftCopy
	}
	if f, found, err := m.folded(e.id); err == nil && found && f.Last.Handled() {
		return LeftCopy
	}
	if err == nil {
		err = v.s.original(f)
	}
	switch {
	case errors.Is(err, ErrMalformed):
		return LeftMalformed
	case err != nil:
		return "" // gone, or no regular file: told by doctor
	case f.To != m.name:
		return LeftMisrouted
	case f.Kind == Task:
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

// each sees every regular file in the directory of like that is meant.
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
