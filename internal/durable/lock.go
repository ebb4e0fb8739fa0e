package durable

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// retryLock is how often a lock that is held elsewhere is tried again.
const retryLock = 5 * time.Millisecond

// TryLock takes the exclusive flock(2) of an open handoff; false: another
// descriptor holds it. The lock belongs to the open file, not to the process:
// a child that inherits the descriptor holds it too, and Unlock frees it for
// both.
func TryLock(f *os.File) (bool, error) {
	err := flockFD(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// TryShare is TryLock for a lock that any number may share; false: somebody
// has it for himself alone.
func TryShare(f *os.File) (bool, error) {
	err := flockFD(f, unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Unlock frees what TryLock took, in every process that has the descriptor.
func Unlock(f *os.File) error { return flockFD(f, unix.LOCK_UN) }

func flockFD(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return os.NewSyscallError("flock", err)
		}
	}
}

// ErrHeld says that a lock was not to be had in the time given.
var ErrHeld = errors.New("held elsewhere")

// LockFile takes the lock of the file at path, made where it is missing and
// never removed: a lock file that is unlinked lets a second holder in. It waits
// for at most wait (ErrHeld) or until ctx ends. The lock is shared or
// exclusive; unlock frees it.
func (d *FS) LockFile(ctx context.Context, path string, exclusive bool, wait time.Duration) (unlock func(), err error) {
	if d.File.Perm()&umask != 0 {
		// What the lock is taken on is made by a library that leaves its mode to
		// the umask: others who may use it could not open it.
		if f, err := d.Create(path); err == nil {
			_ = f.Close()
		} else if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	// A fresh one per call: one *Flock that two goroutines share says yes twice.
	l := flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK), flock.SetPermissions(d.File.Perm()))
	try := l.TryRLock
	if exclusive {
		try = l.TryLock
	}
	deadline := time.Now().Add(wait)
	for {
		ok, err := try()
		if err != nil {
			_ = l.Close()
			return nil, err
		}
		if ok {
			return func() { _ = l.Close() }, nil
		}
		if !time.Now().Before(deadline) {
			_ = l.Close()
			return nil, &os.PathError{Op: "lock", Path: path, Err: ErrHeld}
		}
		select {
		case <-ctx.Done():
			_ = l.Close()
			return nil, ctx.Err()
		case <-time.After(retryLock):
		}
	}
}

// LockDir takes the exclusive lock of a directory itself, waiting for at most
// wait (ErrHeld). The error is fs.ErrNotExist or ErrReplaced when the directory
// was moved or removed while its lock was waited for.
func LockDir(dir string, wait time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(wait)
	for {
		ok, err := TryLock(f)
		if ok {
			err = Named(f, dir)
		} else if err == nil && !time.Now().Before(deadline) {
			err = &os.PathError{Op: "lock", Path: dir, Err: ErrHeld}
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		if ok {
			return func() { _ = f.Close() }, nil
		}
		time.Sleep(retryLock)
	}
}

// Named is nil when f is still what path names; else the error is
// fs.ErrNotExist or ErrReplaced.
func Named(f *os.File, path string) error {
	there, err := os.Stat(path)
	if err != nil {
		return err
	}
	mine, err := f.Stat()
	if err == nil && !os.SameFile(there, mine) {
		err = &os.PathError{Op: "lock", Path: path, Err: ErrReplaced}
	}
	return err
}
