package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"xfer/internal/durable"
)

// local/ is this host's own and never synced. local/self says whose it is and
// which inode it had: a copied or synced local/ has another one. The device is
// left out, since it changes at a remount.

// checkLocal compares local/self with this host, and makes local/ where this
// host has none yet.
func (s *Spool) checkLocal() error {
	why, err := s.localFault()
	if why == nil && err == nil {
		return nil
	}
	if err != nil {
		return err
	}
	if errors.Is(why, errTwoHosts) {
		return why
	}
	unlock, err := durable.LockDir(s.dir, lockWait)
	if errors.Is(err, durable.ErrHeld) {
		return Because(ErrLocked, "another process is completing it")
	}
	if err != nil {
		return err
	}
	defer unlock()
	// Another process may have been faster.
	why, err = s.localFault()
	switch {
	case err != nil:
		return err
	case errors.Is(why, errTwoHosts):
		return why
	case errors.Is(why, errCopied):
		err = s.remakeLocal()
	case why != nil:
		err = s.completeHost()
	}
	// Where nothing can be written there is still much to be read.
	if errors.Is(err, syscall.EROFS) {
		return nil
	}
	return err
}

var (
	errNoLocal  = errors.New("this host has no local/ yet")
	errCopied   = errors.New("local/ was copied")
	errTwoHosts = errors.New("local/ is another host's")
)

// localFault is what is wrong with local/, if anything; err is a system error.
func (s *Spool) localFault() (why, err error) {
	info, err := os.Lstat(s.localDir())
	if errors.Is(err, fs.ErrNotExist) {
		return errNoLocal, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, Because(ErrConfig, "its local is not a directory")
	}
	b, err := s.readOwn(s.selfFile(), 256)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoLocal, nil
	}
	if err != nil {
		return nil, &Error{Op: "open spool", Name: s.dir, Err: err}
	}
	host, inode, _ := strings.Cut(strings.TrimSuffix(string(b), "\n"), " ")
	switch {
	case inode != fmt.Sprint(durable.Inode(info)):
		return errCopied, nil
	case !Host(host).Same(s.host):
		return &Error{Op: "open spool", Name: s.dir,
			Err:  &twoHosts{Because(ErrConfig, fmt.Sprintf("its local/ belongs to host %q, and this is %q", clip(host), s.host))},
			Hint: "two machines or containers share one directory? set XFER_HOST=" + clip(host) + " in both"}, nil
	}
	return nil, nil
}

// readOwn is what a small file of local/ holds. The error is ErrOwnFile where it
// can never be read, and fs.ErrNotExist.
func (s *Spool) readOwn(path string, limit int64) ([]byte, error) {
	b, err := durable.ReadRegular(path, limit)
	if errors.Is(err, syscall.EFBIG) || errors.Is(err, fs.ErrPermission) || notRegular(err) {
		err = &Error{Err: &ownFile{s.below(path), err}, Hint: "'xfer-gc doctor' tells what to type"}
	}
	return b, err
}

// ownFile is found by errors.Is as ErrOwnFile and as its cause.
type ownFile struct {
	path  Path
	cause error
}

func (o *ownFile) Error() string {
	return o.path.fact() + ": it cannot be read: " + Cause{o.cause}.fact()
}

func (o *ownFile) Unwrap() []error { return []error{ErrOwnFile, o.cause} }

// twoHosts is found by errors.Is as errTwoHosts and as what it wraps.
type twoHosts struct{ error }

func (t *twoHosts) Is(target error) bool { return target == errTwoHosts }
func (t *twoHosts) Unwrap() error        { return t.error }

// completeHost makes what this host lacks: .stignore before local/, so that no
// sync tool ever sees local/ without it, and local/self last.
func (s *Spool) completeHost() error {
	if err := s.writeIgnore(); err != nil {
		return err
	}
	if err := s.makeLocal(); err != nil {
		return err
	}
	return s.writeSelf()
}

// makeLocal makes the directories of local/ that are always needed; the others
// are made by whoever first writes into them.
func (s *Spool) makeLocal() error {
	for _, dir := range []string{s.localDir(), s.tempDir(), s.lockDir(), s.idsDir()} {
		if err := s.fs.Mkdir(dir); err != nil {
			return err
		}
	}
	return nil
}

func (s *Spool) writeSelf() error {
	info, err := os.Lstat(s.localDir())
	if err != nil {
		return err
	}
	return s.fs.Replace(s.selfFile(), fmt.Appendf(nil, "%s %d\n", s.host, durable.Inode(info)), true)
}

// remakeLocal empties a local/ that came from elsewhere, segments excepted:
// claims, releases and links in it are another host's. While a lock in it is
// held somebody works with it, so nothing is touched.
func (s *Spool) remakeLocal() error {
	unlock, err := s.lockAllLocal()
	if err != nil {
		return err
	}
	defer unlock()
	entries, err := os.ReadDir(s.localDir())
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch path := filepath.Join(s.localDir(), e.Name()); path {
		case s.lockDir(), s.logDir(), s.selfFile():
		case s.idsDir():
			err = removeAllBut(path, ".seg")
		default:
			err = os.RemoveAll(path)
		}
		if err != nil {
			return err
		}
	}
	return s.completeHost()
}

func removeAllBut(dir, suffix string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// lockAllLocal holds every lock file and waiter's file there is; one that is
// held by somebody is ErrConfig.
func (s *Spool) lockAllLocal() (unlock func(), err error) {
	var held []*os.File
	unlock = func() {
		for _, f := range held {
			_ = f.Close()
		}
	}
	for _, dir := range []string{s.lockDir(), s.awaitDir()} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			unlock()
			return nil, err
		}
		for _, e := range entries {
			f, _, err := durable.OpenRegular(filepath.Join(dir, e.Name()), os.O_RDWR)
			if err != nil {
				continue // not a lock file of ours
			}
			held = append(held, f)
			if ok, err := durable.TryLock(f); err != nil || !ok {
				unlock()
				return nil, &Error{Op: "open spool", Name: s.dir, Err: Because(ErrConfig, fmt.Sprintf("its local/ was copied or is being synced, and its lock %q is held", e.Name())),
					Hint: "stop what holds it; a sync tool must leave out local/"}
			}
		}
	}
	return unlock, nil
}
