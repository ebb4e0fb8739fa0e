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

// What doctor repairs. The places are the truth: the registry is rebuilt from
// them, and nothing here removes a handoff.

// Adopt makes local/ this host's, on a machine that really changed: its name
// or id is another, and the directory is the same. The error is ErrConfig
// while a lock in local/ is held.
func Adopt(dir string, sys *System) error {
	s, _, err := own(dir, sys)
	if err != nil {
		return openError(dir, err)
	}
	s.setModes()
	if s.host, err = sys.Host(); err != nil {
		return err
	}
	unlock, err := s.lockAllLocal()
	if err != nil {
		return err
	}
	defer unlock()
	return s.writeSelf()
}

// RepairSpoolMode gives the directory of the caller's own spool its mode back,
// where it lets other users in. The error is ErrModes where the mode may have
// been meant for a group.
func RepairSpoolMode(dir string, sys *System) error {
	_, info, err := own(dir, sys)
	if !errors.Is(err, ErrModes) || info.Mode()&fs.ModeSetgid != 0 {
		return openError(dir, err)
	}
	return os.Chmod(dir, privateDir)
}

// own is the spool at dir, not opened, if it is one and this user's.
func own(dir string, sys *System) (s *Spool, info fs.FileInfo, err error) {
	s = &Spool{dir: dir, sys: sys}
	info, err = os.Stat(dir)
	if err == nil {
		err = s.readVersion()
	}
	if err == nil {
		err = s.checkOwner(info)
	}
	return s, info, err
}

// RepairIgnore puts the lines into .stignore that it lacks.
func (s *Spool) RepairIgnore() error { return s.writeIgnore() }

// IgnoreLacks are the lines that .stignore lacks.
func (s *Spool) IgnoreLacks() ([]string, error) {
	b, err := durable.ReadRegular(s.ignoreFile(), maxIgnore)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return missingLines(string(b), ignored("")), nil
}

// RepairClaims removes the numbers by which this host claimed mailboxes that
// cannot be read; the highest that is seen counts then. It returns how many.
func (s *Spool) RepairClaims(context.Context) (n int, err error) {
	err = s.eachBrokenClaim(func(path string, _ error) error {
		n++
		return durable.Remove(path)
	})
	return n, err
}

func (s *Spool) eachBrokenClaim(do func(path string, err error) error) error {
	names, err := readNames(s.claimsDir())
	if err != nil {
		return err
	}
	for _, name := range names {
		path := filepath.Join(s.claimsDir(), name)
		_, err := durable.ReadRegular(path, maxClaimFile)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := do(path, err); err != nil {
			return err
		}
	}
	return nil
}

// FolderFault is what is wrong with a Syncthing folder that the spool lies in,
// if anything.
func (s *Spool) FolderFault() error { return checkFolder(s.dir) }

// RepairModes gives every file and directory of the spool the modes of its
// kind. It returns how many it changed. What is neither is left alone.
func (s *Spool) RepairModes(ctx context.Context) (n int, err error) {
	err = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, werr error) error {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		if werr != nil || isSyncTools(s.dir, path) {
			return nil
		}
		info, ierr := d.Info()
		if ierr != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return nil
		}
		want := s.fs.File
		if info.IsDir() {
			want = s.fs.Dir
		}
		if info.Mode()&(fs.ModePerm|fs.ModeSetgid|fs.ModeSetuid) == want {
			return nil
		}
		n++
		return os.Chmod(path, want)
	})
	return n, err
}

// HardLinks tells whether the spool's filesystem makes hard links.
func (s *Spool) HardLinks() bool {
	suffix, err := s.suffix()
	if err != nil {
		return true
	}
	a, b := filepath.Join(s.tempDir(), "probe."+suffix), filepath.Join(s.tempDir(), "probe2."+suffix)
	f, err := s.fs.Create(a)
	if err != nil {
		return true // what fails here is told elsewhere
	}
	_ = f.Close()
	err = durable.Link(a, b)
	_ = durable.Remove(a)
	_ = durable.Remove(b)
	return !errors.Is(err, durable.ErrNoLinks)
}

// TakenBefore are the tasks in work/ that have stood there since before t, and
// that nobody released.
func (m *Mailbox) TakenBefore(ctx context.Context, t time.Time) ([]ID, error) {
	l, err := m.scan(Work)
	if err != nil {
		return nil, err
	}
	byID(l.entries)
	var ids []ID
	for _, e := range l.entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if released, err := m.s.released(e.id); released || err != nil {
			continue
		}
		if info, err := os.Lstat(m.path(e)); err == nil && durable.Changed(info).Before(t) {
			ids = append(ids, e.id)
		}
	}
	return ids, nil
}

// TornSegments are the paths, below the spool, of segments that are cut off.
func (s *Spool) TornSegments() ([]string, error) {
	dirs := []string{s.idsDir()}
	peers, err := s.Peers()
	if err != nil {
		return nil, err
	}
	for _, n := range peers {
		dirs = append(dirs, (&Mailbox{s: s, name: n, dir: s.peerDir(n)}).pastDir())
	}
	var torn []string
	for _, dir := range dirs {
		names, err := readNames(dir)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			info, err := os.Lstat(filepath.Join(dir, name))
			if err == nil && strings.HasSuffix(name, segSuffix) && info.Size()%recordLen != 0 {
				rel, _ := filepath.Rel(s.dir, filepath.Join(dir, name))
				torn = append(torn, rel)
			}
		}
	}
	return torn, nil
}

// NeverAging counts finished handoffs that were written over a month ago and
// whose inode changed within a day: something renews them again and again.
func (s *Spool) NeverAging(ctx context.Context, now time.Time) (n int, err error) {
	peers, err := s.Peers()
	if err != nil {
		return 0, err
	}
	const month, day = 30 * 24 * time.Hour, 24 * time.Hour
	for _, name := range peers {
		m := &Mailbox{s: s, name: name, dir: s.peerDir(name)}
		l, err := m.scan(Finished)
		if err != nil {
			return n, err
		}
		for _, e := range l.entries {
			if err := ctx.Err(); err != nil {
				return n, err
			}
			info, err := os.Lstat(m.path(e))
			if err == nil && now.Sub(info.ModTime()) > month && now.Sub(durable.Changed(info)) < day && durable.Names(info) > 2 {
				n++
			}
		}
	}
	return n, nil
}
