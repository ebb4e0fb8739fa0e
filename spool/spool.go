package spool

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"xfer/internal/durable"
)

// Version is the format that this package reads and writes.
const Version = 1

const versionWord = "xfer-spool "

// Modes of what is made in a spool of one user, and in one that a group shares.
const (
	privateDir  fs.FileMode = 0o700
	privateFile fs.FileMode = 0o600
	sharedDir   fs.FileMode = fs.ModeSetgid | 0o770
	sharedFile  fs.FileMode = 0o660
)

// lockWait is how long a short lock is waited for: whoever holds one does a
// few system calls under it.
const lockWait = time.Second

// A Spool is an open spool. Its methods may be called from several goroutines.
type Spool struct {
	dir    string
	sys    *System
	fs     durable.FS
	host   Host
	shared bool
	made   bool
}

// Dir is the path the spool was opened by.
func (s *Spool) Dir() string { return s.dir }

// Host is who this machine is to the spool.
func (s *Spool) Host() Host { return s.host }

// Open opens the spool at dir and completes what this host lacks in it: its
// own local/. The errors are ErrNoSpool, ErrVersion, ErrOwner, ErrModes,
// ErrConfig and those of the system.
func Open(dir string, sys *System) (*Spool, error) {
	s, err := open(dir, sys)
	if err != nil {
		return nil, openError(dir, err)
	}
	return s, nil
}

func openError(dir string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	return &Error{Op: "open spool", Name: dir, Err: err}
}

func open(dir string, sys *System) (*Spool, error) {
	s := &Spool{dir: dir, sys: sys}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isLink(dir):
		return nil, &Error{Op: "open spool", Name: dir, Err: Because(ErrNoSpool, "a link to what is not there"),
			Hint: "is something not mounted there?"}
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{Op: "open spool", Name: dir, Err: Because(ErrNoSpool, "nothing is there"),
			Hint: "'xfer-inbox create' makes the spool and a mailbox in it"}
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, Because(ErrNoSpool, "not a directory")
	}
	if err := s.readVersion(); err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, err
	} else if oerr := s.checkOwner(info); oerr != nil || err != nil {
		return nil, cmp.Or(oerr, err)
	}
	s.setModes()
	if s.host, err = sys.Host(); err != nil {
		return nil, err
	}
	return s, s.checkLocal()
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func (s *Spool) readVersion() error {
	b, err := durable.ReadRegular(s.versionFile(), 64)
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{Op: "open spool", Name: s.dir, Err: Because(ErrNoSpool, "a directory without the file xfer-spool"),
			Hint: "is something not mounted there? 'xfer-inbox init' makes a spool in an empty directory"}
	}
	switch {
	case errors.Is(err, durable.ErrNotRegular):
		return Because(ErrNoSpool, "its xfer-spool is not a regular file")
	case errors.Is(err, syscall.EFBIG):
		return Because(ErrVersion, "its xfer-spool is longer than in any format")
	case err != nil:
		return err
	}
	word := strings.TrimSuffix(string(b), "\n")
	if number, ok := strings.CutPrefix(word, versionWord); ok && number == strconv.Itoa(Version) {
		return nil
	}
	if strings.HasPrefix(versionWord, word) {
		return &Error{Op: "open spool", Name: s.dir, Err: Because(ErrVersion, "its xfer-spool is cut short: it holds "+strconv.Quote(word)),
			Hint: "if nothing but that was lost: echo " + versionWord + strconv.Itoa(Version) + " > " + s.versionFile()}
	}
	return Because(ErrVersion, "its format is "+strconv.Quote(clip(word))+", this program knows "+strconv.Quote(versionWord+strconv.Itoa(Version)))
}

// checkOwner refuses a spool of somebody else, to root too: what root makes in
// it, its owner could not move. Only a spool that is shared on purpose is
// open to a group.
func (s *Spool) checkOwner(info fs.FileInfo) error {
	s.shared = info.Mode()&(fs.ModeSetgid|fs.ModePerm) == sharedDir
	if s.shared {
		return nil
	}
	if owner, me := durable.Owner(info), uint32(os.Geteuid()); owner != me {
		return &Error{Op: "open spool", Name: s.dir, Err: Because(ErrOwner, "it belongs to uid "+strconv.Itoa(int(owner))+", and this is uid "+strconv.Itoa(int(me))),
			Hint: "run it as its owner"}
	}
	if info.Mode().Perm()&^privateDir != 0 {
		return &Error{Op: "open spool", Name: s.dir, Err: Because(ErrModes, "its mode "+strconv.FormatUint(uint64(info.Mode().Perm()), 8)+" lets other users in"),
			Hint: "chmod 700 " + s.dir}
	}
	return nil
}

func (s *Spool) setModes() {
	s.fs = durable.FS{Dir: privateDir, File: privateFile, Sync: s.sys.Sync, Temp: s.tempDir(), Suffix: s.suffix}
	if s.shared {
		s.fs.Dir, s.fs.File = sharedDir, sharedFile
	}
}

// suffix is what makes the name of a temp file its writer's own.
func (s *Spool) suffix() (string, error) {
	var b [8]byte
	if _, err := io.ReadFull(s.sys.Rand, b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}

// DefaultMaxBytes is the largest body that is sent where $XFER_MAX_BYTES says
// nothing else.
const DefaultMaxBytes = 32 << 20

// MaxBytes is the largest body that may be sent, in bytes; the error is
// ErrConfig when $XFER_MAX_BYTES is not a number.
func (sys *System) MaxBytes() (int64, error) {
	s := sys.Env("XFER_MAX_BYTES")
	if s == "" {
		return DefaultMaxBytes, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	// Xfer-Size has twelve digits.
	if err != nil || n < 0 || n >= int64(math.Pow10(sizeWidth)) {
		return 0, &Error{Op: "read $XFER_MAX_BYTES", Name: s, Err: Because(ErrConfig, "not a number of bytes, at most 999999999999")}
	}
	return n, nil
}

// lock takes one of the spool's lock files, waiting for at most wait; op and
// name are what the error (ErrLocked) speaks of.
func (s *Spool) lock(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	return s.lockBy(path, func() (func(), error) { return s.fs.LockFile(ctx, path, true, wait) })
}

func (s *Spool) lockBy(path string, how func() (func(), error)) (unlock func(), err error) {
	err = again(func() error {
		unlock, err = how()
		return err
	}, s.makeLocal)
	if errors.Is(err, durable.ErrHeld) {
		return nil, Because(ErrLocked, "the lock "+filepath.Base(path)+" is held by "+holder(path))
	}
	return unlock, err
}

// holder is who has the lock of a file, as far as the kernel tells.
func holder(path string) string {
	pid, program := durable.Holder(path)
	if pid == 0 {
		return "another process"
	}
	return "process " + strconv.Itoa(pid) + " (" + program + ")"
}

// retryMade makes the directories that step found missing, and does step again:
// somebody may remove empty directories at any time, also those just made.
func (s *Spool) retryMade(step func() error, dirs ...string) error {
	return again(step, func() error { return s.mkdirs(dirs...) })
}

func (s *Spool) mkdirs(dirs ...string) error {
	for _, dir := range dirs {
		if err := s.fs.Mkdir(dir); err != nil {
			return err
		}
	}
	return nil
}

// again does step, and again after mend as long as something that it needs is
// missing, but not for ever: what is missing may be what mend does not make.
func again(step, mend func() error) error {
	const often = 8
	err := step()
	for n := 1; n < often && errors.Is(err, fs.ErrNotExist); n++ {
		merr := mend()
		switch {
		case merr == nil:
			err = step()
		case !errors.Is(merr, fs.ErrNotExist): // else what was made has gone meanwhile
			return merr
		}
	}
	return err
}
