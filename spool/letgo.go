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

// Letting go, each under its locks and after another look: what was planned
// may have changed, and what has changed stays.

// errKept says that a leftover is not one any more, or is in somebody's hands.
var errKept = errors.New("kept")

// Kept tells whether err says that nothing had to go after all.
func Kept(err error) bool { return errors.Is(err, errKept) }

// open opens what l names, if it is as old as it was planned to be.
func (r *Reaping) open(l *Leftover) (*os.File, error) {
	f, info, err := durable.OpenRegular(r.Path(l), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, durable.ErrReplaced) || notRegular(err) {
		return nil, errKept
	}
	if err != nil {
		return nil, err
	}
	if !newest(info).Equal(l.At) || info.Size() != l.Size {
		_ = f.Close()
		return nil, errKept
	}
	return f, nil
}

// locked is open, with the file's lock taken and its path looked at again.
func (r *Reaping) locked(l *Leftover) (*os.File, error) {
	f, err := r.open(l)
	if err != nil {
		return nil, err
	}
	if ok, err := durable.TryLock(f); err != nil || !ok {
		_ = f.Close()
		return nil, errKept // its writer lives
	}
	there, err := os.Lstat(r.Path(l))
	mine, ferr := f.Stat()
	if err != nil || ferr != nil || !os.SameFile(there, mine) {
		_ = f.Close()
		return nil, errKept
	}
	return f, nil
}

// Drop removes a file that nobody has locked.
func (r *Reaping) Drop(l *Leftover) error {
	f, err := r.locked(l)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return durable.Remove(r.Path(l))
}

// DropTemp removes a temp file that nobody writes. One that was registered and
// never published is undone: its link first, under the lock of its id, and
// only while no place and no segment has it.
func (r *Reaping) DropTemp(ctx context.Context, l *Leftover) error {
	f, err := r.locked(l)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if l.ID == "" {
		return durable.Remove(r.Path(l))
	}
	unlock, err := r.s.lock(ctx, r.s.idLock(l.ID), lockWait)
	if errors.Is(err, ErrLocked) {
		return errKept
	}
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.undo(l, f); err != nil {
		return err
	}
	return durable.Remove(r.Path(l))
}

// undo takes back the registration of the temp file l, if it is one's.
func (r *Reaping) undo(l *Leftover, f *os.File) error {
	reg, err := r.s.lookup(l.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return passIncomplete(err)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if own := reg.temp == l.Name || reg.info != nil && os.SameFile(reg.info, info); !own {
		return nil
	}
	m, err := r.s.Mailbox(l.Peer)
	if err != nil {
		return err
	}
	if found, err := m.find(l.ID); err != nil || len(found) > 0 {
		return err
	}
	if _, folded, err := m.folded(l.ID); err != nil || folded {
		return err
	}
	return r.s.unregister(l.ID)
}

// LetGo lets finished handoffs of one mailbox go: their ids are folded, and
// durable, before the files are unlinked. It returns how many went and how
// large they were.
func (r *Reaping) LetGo(ctx context.Context, peer Name, all []Leftover) (n int, size int64, err error) {
	m, err := r.s.Mailbox(peer)
	if err != nil {
		return 0, 0, err
	}
	if home, err := m.home(); err != nil || !home.Host.Same(r.s.host) {
		return 0, 0, err
	}
	for len(all) > 0 {
		batch := all[:min(len(all), foldTogether)]
		all = all[len(batch):]
		some, bytes, err := r.letGo(ctx, m, batch)
		n, size = n+some, size+bytes
		if err != nil {
			return n, size, err
		}
	}
	return n, size, nil
}

// foldTogether is how many ids go into one segment: each batch costs a sync,
// and is held open while it is folded.
const foldTogether = 4096

func (r *Reaping) letGo(ctx context.Context, m *Mailbox, batch []Leftover) (n int, size int64, err error) {
	var held []*os.File
	defer func() {
		for _, f := range held {
			_ = f.Close()
		}
	}()
	var records []Folded
	var going []*Leftover
	for i := range batch {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		l := &batch[i]
		f, err := r.locked(l)
		if Kept(err) {
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		held, going = append(held, f), append(going, l)
		if record, ok := foldable(f, l); ok {
			records = append(records, record)
		}
	}
	if err := m.Fold(records); err != nil {
		return 0, 0, err
	}
	for _, l := range going {
		if err := durable.Remove(r.Path(l)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return n, size, err
		}
		if l.Place == Bad {
			_ = durable.Remove(r.Path(l) + reasonSuffix)
		}
		n, size = n+1, size+l.Size
	}
	return n, size, nil
}

// foldable is what a segment remembers of l: nothing of what was set aside
// under another name than its id's, or is not whole.
func foldable(f *os.File, l *Leftover) (Folded, bool) {
	if l.ID == "" {
		return Folded{}, false
	}
	info, err := f.Stat()
	if err != nil {
		return Folded{}, false
	}
	h, err := readHandoff(f, info, l.ID)
	if err != nil {
		return Folded{}, false
	}
	return Folded{l.ID, h.same(), lastOf(l.Place, h.Ending)}, true
}

// Settle deals with a copy, a concluded task or what is not whole, as a reader
// that meets it does, and says what was done. old tells that what is not whole
// has had its time, and is set aside.
func (r *Reaping) Settle(ctx context.Context, l *Leftover, old bool) (did string, err error) {
	m, err := r.s.Mailbox(l.Peer)
	if err != nil {
		return "", err
	}
	e := entry{l.ID, l.Place, l.Name}
	c, err := m.claim(e)
	if err == nil {
		err = c.ready(ctx)
		c.Release()
	}
	switch {
	case err == nil:
		return "", errKept
	case errors.Is(err, errGhost), errors.Is(err, errAside), errors.Is(err, errEnded):
		return err.Error(), nil
	case errors.Is(err, ErrIncomplete) && old:
		return r.setAsideOld(m, l, e, err)
	case errors.Is(err, errBusy), errors.Is(err, errGone), errors.Is(err, errAwaited), errors.Is(err, ErrIncomplete), notRegular(err):
		return "", errKept
	}
	return "", err
}

const whyIncomplete why = "incomplete"

func (r *Reaping) setAsideOld(m *Mailbox, l *Leftover, e entry, reason error) (string, error) {
	f, err := r.locked(l)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	to, err := m.setAside(e, f, whyIncomplete, reason.Error())
	return "set aside as bad/" + to, err
}

// DropStray removes a stray that is the same as the handoff it copies, and sets
// one aside that is another. What is no handoff is nobody's to judge: kept.
func (r *Reaping) DropStray(l *Leftover) (did string, err error) {
	f, err := r.locked(l)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	h, err := readHandoff(f, info, l.ID)
	if err == nil {
		_, err = h.Verify()
	}
	if passIncomplete(err) != nil {
		return "", err
	}
	m, merr := r.s.Mailbox(l.Peer)
	if merr != nil {
		return "", merr
	}
	if err == nil {
		same, serr := m.hasSame(h)
		if serr != nil {
			return "", serr
		}
		if same {
			return "removed: it is the same as the handoff it copies", durable.Remove(r.Path(l))
		}
	} else if !strings.Contains(l.Name, "conflict") {
		return "", errKept
	}
	to, err := m.setAside(entry{l.ID, l.Place, l.Name}, f, "stray", "a copy under the name "+l.Name)
	return "set aside as bad/" + to, err
}

// hasSame tells whether the mailbox has, or remembers, the same handoff.
func (m *Mailbox) hasSame(h *File) (bool, error) {
	found, err := m.find(h.ID)
	if err != nil {
		return false, err
	}
	for _, e := range found {
		f, err := openFile(m.path(e), h.ID)
		if err != nil {
			continue
		}
		_, err = f.Verify()
		_ = f.Close()
		if err == nil && f.Same(&h.Header) {
			return true, nil
		}
	}
	before, folded, err := m.folded(h.ID)
	return err == nil && folded && before.Same == h.same(), err
}

// FoldLinks remembers registry entries whose handoff went elsewhere, and
// removes them. What they remember is that the id was used, not that it was
// handled.
func (r *Reaping) FoldLinks(ctx context.Context, all []Leftover) (n int, err error) {
	for len(all) > 0 {
		batch := all[:min(len(all), foldTogether)]
		all = all[len(batch):]
		some, err := r.foldLinks(ctx, batch)
		n += some
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (r *Reaping) foldLinks(ctx context.Context, batch []Leftover) (n int, err error) {
	var records []Folded
	for i := range batch {
		reg, err := r.s.lookup(batch[i].ID)
		if err != nil {
			continue
		}
		records = append(records, Folded{reg.ID, reg.same(), lastSeen})
	}
	if len(records) == 0 {
		return 0, nil
	}
	if err := r.s.writeSegment(r.s.idsDir(), "", records); err != nil {
		return 0, err
	}
	for i := range batch {
		if err := r.dropLink(ctx, &batch[i]); err == nil {
			n++
		} else if !Kept(err) {
			return n, err
		}
	}
	return n, nil
}

func (r *Reaping) dropLink(ctx context.Context, l *Leftover) error {
	unlock, err := r.s.lock(ctx, r.s.idLock(l.ID), lockWait)
	if errors.Is(err, ErrLocked) {
		return errKept
	}
	if err != nil {
		return err
	}
	defer unlock()
	info, err := os.Lstat(r.Path(l))
	if err != nil || durable.Names(info) > 1 || !newest(info).Equal(l.At) {
		return errKept
	}
	return durable.Remove(r.Path(l))
}

// Known tells whether anything is still remembered of the id that a key names.
func (r *Reaping) Known(l *Leftover) (bool, error) {
	id, err := r.s.keyed(r.Path(l))
	if err != nil || id == "" {
		return false, err
	}
	if _, err := r.s.lookup(id); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	_, found, err := r.s.foldedHere(id)
	return found, err
}

// MergePast merges this host's own segments of one month, and removes parts
// that an earlier merge holds: they go at a later run, since a deletion can
// travel before what replaces it. settled is how old that merge has to be.
func (r *Reaping) MergePast(peer Name, names []string, settled time.Duration) (did string, err error) {
	m, err := r.s.Mailbox(peer)
	if err != nil {
		return "", err
	}
	return r.merge(m.pastDir(), string(r.s.host)+".", names, settled)
}

// MergeMemory is MergePast for the segments of this host's own registry.
func (r *Reaping) MergeMemory(names []string, settled time.Duration) (did string, err error) {
	return r.merge(r.s.idsDir(), "", names, settled)
}

func (r *Reaping) merge(dir, prefix string, names []string, settled time.Duration) (did string, err error) {
	parts := make(map[string][]Folded, len(names))
	union := make(map[ID]bool)
	var all []Folded
	for _, name := range names {
		records, err := readSegment(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		parts[name] = records
		for _, f := range records {
			union[f.ID] = true
		}
		all = append(all, records...)
	}
	for name, records := range parts {
		if len(records) != len(union) {
			continue
		}
		// This one holds all of them.
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || r.s.sys.Now().Sub(newest(info)) < settled {
			return "", errKept
		}
		return "removed parts that " + name + " holds", r.dropParts(dir, name, names)
	}
	return "merged", r.s.writeSegment(dir, prefix, all)
}

func (r *Reaping) dropParts(dir, whole string, names []string) error {
	for _, name := range names {
		if name == whole {
			continue
		}
		if err := durable.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// readSegment is every record of a segment; none of one that is cut off.
func readSegment(path string) ([]Folded, error) {
	b, err := durable.ReadRegular(path, maxSegment)
	if err != nil || len(b)%recordLen != 0 {
		return nil, err
	}
	records := make([]Folded, 0, len(b)/recordLen)
	for ; len(b) > 0; b = b[recordLen:] {
		records = append(records, decodeFolded(b))
	}
	return records, nil
}

// maxSegment is the largest segment that is read at once, in bytes: sixteen
// million handoffs of one mailbox in a month.
const maxSegment = 512 << 20

// RotateLog puts a log aside that has grown, in the place of the one before.
func (r *Reaping) RotateLog(l *Leftover) error {
	return os.Rename(r.Path(l), r.Path(l)+".1")
}
