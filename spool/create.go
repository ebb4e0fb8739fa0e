package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"xfer/internal/durable"
)

// OpenOrCreate opens the spool at dir, which it makes, with its parents, where
// nothing is there at all. An existing directory that is no spool is refused
// as by Open: something may not be mounted.
func OpenOrCreate(dir string, sys *System) (*Spool, error) {
	made := false
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if made, err = create(dir, sys, private); err != nil {
			return nil, makeError(dir, err)
		}
	}
	s, err := Open(dir, sys)
	if err == nil {
		s.made = made
	}
	return s, err
}

// Made tells whether OpenOrCreate made the spool.
func (s *Spool) Made() bool { return s.made }

// private is the group of a spool that has none: it is its owner's alone.
const private = -1

func makeError(dir string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	return &Error{Op: "make spool", Name: dir, Err: err}
}

// Init makes a spool at dir: where nothing is, in an empty directory, or in
// one that holds only what Syncthing puts into a new folder. On a spool it
// completes what this host lacks.
func Init(dir string, sys *System) (*Spool, error) { return initialize(dir, sys, private) }

// InitShared is Init for a spool that the users of a group share: directories
// are 2770 and files 0660. A spool that is there already has to be shared.
func InitShared(dir string, sys *System, gid int) (*Spool, error) {
	s, err := initialize(dir, sys, gid)
	if err == nil && !s.shared {
		return nil, &Error{Op: "share spool", Name: dir, Err: Because(ErrConfig, "it is there already, and private"),
			Hint: "make another one, and move the handoffs by sending them again"}
	}
	return s, err
}

func initialize(dir string, sys *System, gid int) (*Spool, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := create(dir, sys, gid); err != nil {
			return nil, makeError(dir, err)
		}
		return Open(dir, sys)
	case errors.Is(err, syscall.ENOTDIR):
		return nil, makeError(dir, Because(ErrNoSpool, "not a directory"))
	case err != nil:
		return nil, makeError(dir, err)
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "xfer-spool" }) {
		return Open(dir, sys)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == ".stfolder", name == ".stignore", isSpoolTemp(name):
		case name == "peers", name == "board":
			// An interrupted init: both are made before xfer-spool.
		default:
			return nil, &Error{Op: "make spool", Name: dir, Err: Because(ErrNoSpool, "the directory holds other things, such as "+strconv.Quote(name)),
				Hint: "name a directory that is empty or not there"}
		}
	}
	if err := checkFolder(dir); err != nil {
		return nil, makeError(dir, err)
	}
	if err := fill(dir, sys, gid); err != nil {
		return nil, makeError(dir, err)
	}
	return Open(dir, sys)
}

// create makes the spool beside its place and gives it its name whole, so that
// nobody ever sees a directory there that is not a spool. Creators that race,
// and one that comes after a crash, meet in the same directory under its lock;
// made is true for the one that gave it its name.
func create(dir string, sys *System, gid int) (made bool, err error) {
	if err := checkFolder(dir); err != nil {
		return false, err
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, privateDir); err != nil {
		return false, err
	}
	beside := besideOf(dir)
	if err := os.Mkdir(beside, privateDir); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	unlock, err := durable.LockDir(beside, lockWait)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, durable.ErrReplaced) {
		return false, nil // another creator has just finished
	}
	if errors.Is(err, durable.ErrHeld) {
		return false, Because(ErrLocked, "another process is making it")
	}
	if err != nil {
		return false, err
	}
	defer unlock()
	if info, err := os.Lstat(beside); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	} else if !info.IsDir() || durable.Owner(info) != uint32(os.Geteuid()) {
		return false, &Error{Op: "make spool", Name: dir, Err: Because(ErrOwner, beside+" is in the way, and belongs to another user")}
	}
	if err := fill(beside, sys, gid); err != nil {
		return false, err
	}
	err = durable.Publish(beside, dir)
	if errors.Is(err, durable.ErrCannotPublish) {
		err = os.Rename(beside, dir) //nolint:forbidigo // replaces at most an empty directory
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return false, os.RemoveAll(beside) // another creator was faster
	case err != nil:
		return false, err
	}
	d := durable.FS{Sync: sys.Sync}
	return true, d.SyncDir(parent)
}

// besideOf is where the spool at dir is made.
func besideOf(dir string) string {
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".new")
}

// isSpoolTemp tells whether name is that of a temp file that a crash left in
// the spool itself: before there is a local/tmp, there is no other place.
func isSpoolTemp(name string) bool {
	for _, prefix := range []string{"..stignore", ".xfer-spool"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return true
		}
	}
	return false
}

// fill makes in dir what every spool has, xfer-spool last. What is there
// already is left as it is.
func fill(dir string, sys *System, gid int) error {
	s := &Spool{dir: dir, sys: sys, shared: gid != private}
	mode := privateDir
	if s.shared {
		mode = sharedDir // what is made below inherits the group
		if err := os.Chown(dir, -1, gid); err != nil {
			return err
		}
	}
	if err := os.Chmod(dir, mode); err != nil {
		return err
	}
	s.setModes()
	if err := s.writeIgnore(); err != nil {
		return err
	}
	for _, dir := range []string{s.peersDir(), s.boardDir()} {
		if err := s.fs.Mkdir(dir); err != nil {
			return err
		}
	}
	beside := s.fs
	beside.Temp = dir
	return beside.Replace(s.versionFile(), []byte(versionWord+strconv.Itoa(Version)+"\n"), true)
}
