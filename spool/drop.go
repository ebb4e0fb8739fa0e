package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"xfer/internal/durable"
)

// Dropping what a crash left, or what nobody needs any more: each under its
// lock and after another look. What was planned may have changed, and what has
// changed stays.

// errKept says that a leftover is not one any more, or is in somebody's hands.
var errKept = errors.New("kept")

// Kept tells whether err says that nothing had to go after all.
func Kept(err error) bool { return errors.Is(err, errKept) }

// open opens what l names, if it is as old as it was when it was seen.
func (r *Reaping) open(l *Leftover, flag int) (*os.File, fs.FileInfo, error) {
	f, info, err := durable.OpenRegular(r.Path(l), flag)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, durable.ErrReplaced) || notRegular(err) {
		return nil, nil, errKept
	}
	if err != nil {
		return nil, nil, err
	}
	if !l.is(info) {
		_ = f.Close()
		return nil, nil, errKept
	}
	return f, info, nil
}

// is tells whether info is that of l, as it was seen.
func (l *Leftover) is(info fs.FileInfo) bool {
	return newest(info).Equal(l.At) && info.Size() == l.Size && durable.Inode(info) == l.Inode
}

// locked is open, with the file's lock taken and its path looked at again.
func (r *Reaping) locked(l *Leftover) (*os.File, fs.FileInfo, error) {
	f, info, err := r.open(l, os.O_RDWR)
	if err != nil {
		return nil, nil, err
	}
	ok, err := durable.TryLock(f)
	if err == nil && ok {
		err = durable.Named(f, r.Path(l))
	}
	if err != nil || !ok {
		_ = f.Close()
		return nil, nil, errKept // its writer lives, or it moved
	}
	return f, info, nil
}

// drop removes l under its lock.
func (r *Reaping) drop(l *Leftover) error {
	f, _, err := r.locked(l)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return gone(durable.Remove(r.Path(l)))
}

// gone is err, but that what is gone already is kept from being told twice.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errKept
	}
	return err
}

// Drop removes a file that nobody has locked. What belongs to a handoff stays
// while that is unfinished.
func (r *Reaping) Drop(l *Leftover) error {
	switch l.Kind {
	case LeftDocument, LeftRun, LeftReleased:
		if live, err := r.unfinished(l.ID); live || err != nil {
			return errKept
		}
	}
	return r.drop(l)
}

// unfinished tells whether id is in anybody's hands.
func (r *Reaping) unfinished(id ID) (bool, error) {
	if id == "" {
		return false, nil
	}
	peers, err := r.s.Peers()
	if err != nil {
		return false, err
	}
	for _, n := range peers {
		m := &Mailbox{s: r.s, name: n, dir: r.s.peerDir(n)}
		for _, p := range []Place{New, Cur, Work} {
			if _, _, err := m.at(p, id); !errors.Is(err, fs.ErrNotExist) {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// DropTemp removes a temp file that nobody writes. One that was registered and
// never published is undone: its link first, under the lock of its id, and
// only while no place and no segment has it.
func (r *Reaping) DropTemp(ctx context.Context, l *Leftover) error {
	f, info, err := r.locked(l)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if l.ID == "" {
		return gone(durable.Remove(r.Path(l)))
	}
	unlock, err := r.lockID(ctx, l.ID)
	if err != nil {
		return err
	}
	defer unlock()
	// Whoever had the lock may have published it: a replay completes an orphan.
	if durable.Named(f, r.Path(l)) != nil {
		return errKept
	}
	undone, err := r.undo(l, info)
	if err != nil {
		return err
	}
	err = gone(durable.Remove(r.Path(l)))
	if Kept(err) && undone {
		r.redo(l, info)
	}
	return err
}

// undo takes back the registration of the temp file l, if it is one's. done: it
// was taken back.
func (r *Reaping) undo(l *Leftover, info fs.FileInfo) (done bool, err error) {
	reg, err := r.s.lookup(l.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, passIncomplete(err)
	}
	if own := reg.temp == l.Name || reg.info != nil && os.SameFile(reg.info, info); !own {
		return false, nil
	}
	m, err := r.s.Mailbox(l.Peer)
	if err != nil {
		return false, err
	}
	if found, err := m.find(l.ID); err != nil || len(found) > 0 {
		return false, err
	}
	if _, folded, err := m.folded(l.ID); err != nil || folded {
		return false, err
	}
	return true, r.s.unregister(l.ID)
}

// redo registers what a writer published after all, who had been stopped for
// longer than temp files are kept: one that minted its id holds no lock then.
func (r *Reaping) redo(l *Leftover, info fs.FileInfo) {
	m, err := r.s.Mailbox(l.Peer)
	if err != nil {
		return
	}
	found, err := m.find(l.ID)
	if err != nil || len(found) == 0 {
		return
	}
	path := m.path(rightmost(found))
	f, err := openFile(path, l.ID)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if os.SameFile(f.info, info) {
		_ = r.s.register(&f.Header, path) // a convenience: the places are the truth
	}
}

// DropKey removes an idempotency key whose id is forgotten, under the key's
// lock: whoever sends with it next gives it another id.
func (r *Reaping) DropKey(ctx context.Context, l *Leftover) error {
	unlock, err := r.s.lock(ctx, r.s.keyLock(l.Name), lockWait)
	if errors.Is(err, ErrLocked) {
		return errKept
	}
	if err != nil {
		return err
	}
	defer unlock()
	if known, err := r.Known(l); known || err != nil {
		return errKept
	}
	return r.drop(l)
}

// Known tells whether anything is still remembered of the id that a key names.
func (r *Reaping) Known(l *Leftover) (bool, error) {
	id, err := r.s.keyed(r.Path(l))
	if err != nil || id == "" {
		return false, err
	}
	if _, err := r.s.lookup(id); !errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if _, found, err := r.s.foldedHere(id); found || err != nil {
		return found, err
	}
	at, err := r.s.locate(id) // the registry was lost
	if err == nil && len(at.Seen) == 0 {
		err = r.s.recall(at)
	}
	return err == nil && (len(at.Seen) > 0 || at.Folded != nil), err
}

// RotateLog puts the log aside, in the place of the one before.
func (r *Reaping) RotateLog(l *Leftover) error {
	return gone(durable.Rename(r.Path(l), r.Path(l)+".1"))
}

// DropBeside removes what a creator of the spool left beside it that was
// killed after another had finished.
func (r *Reaping) DropBeside(l *Leftover) error {
	path := r.Path(l)
	unlock, err := durable.LockDir(path, 0)
	if err != nil {
		return errKept
	}
	defer unlock()
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || durable.Owner(info) != uint32(os.Geteuid()) || !l.is(info) {
		return errKept
	}
	return os.RemoveAll(path)
}
