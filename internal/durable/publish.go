package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNoLinks says that the filesystem makes no hard links (exFAT, some FUSE).
var ErrNoLinks = errors.New("no hard links here")

// ErrCannotPublish says that the filesystem can neither rename without
// replacing nor link.
var ErrCannotPublish = errors.New("the filesystem can neither rename without replacing nor make hard links")

// Publish gives the file at from the name to, which must be free
// (fs.ErrExist). One rename does it; where the system cannot rename without
// replacing, link and unlink do, and a crash between the two leaves both
// names on one inode.
func Publish(from, to string) error {
	err := renameNoReplace(from, to)
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	if err := Link(from, to); err != nil {
		if errors.Is(err, ErrNoLinks) {
			return &os.LinkError{Op: "publish", Old: from, New: to, Err: ErrCannotPublish}
		}
		return err
	}
	return Remove(from)
}

// Remove takes the name path away. Unlike os.Remove it never removes a
// directory, and does not try to.
func Remove(path string) error {
	for {
		err := unix.Unlink(path)
		if err == nil {
			return nil
		}
		if err != syscall.EINTR {
			return &fs.PathError{Op: "remove", Path: path, Err: err}
		}
	}
}

// renameNoReplace is renameat2(2); ENOSYS and EINVAL say that the kernel or the
// filesystem lacks the flag.
func renameNoReplace(from, to string) error {
	for {
		err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
		if err == nil {
			return nil
		}
		if err != syscall.EINTR {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
		}
	}
}

// Link gives the file at from a second name, which must be free
// (fs.ErrExist). The error is ErrNoLinks where the filesystem has none; a
// filesystem at its limit of names for one file (EMLINK) counts as such.
func Link(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS),
		errors.Is(err, syscall.EMLINK), errors.Is(err, syscall.EXDEV):
		return &os.LinkError{Op: "link", Old: from, New: to, Err: ErrNoLinks}
	}
	return err
}

// Names is how many names the file behind info has.
func Names(info fs.FileInfo) uint64 {
	return uint64(info.Sys().(*syscall.Stat_t).Nlink) //nolint:unconvert // 32 bits on some systems
}

// Inode is the inode number of the file behind info: the device is left out,
// since it changes at a remount.
func Inode(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }

// Owner is the user that owns the file behind info.
func Owner(info fs.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }

// Changed is when the inode behind info last changed (ctime).
func Changed(info fs.FileInfo) time.Time {
	c := info.Sys().(*syscall.Stat_t).Ctim
	return time.Unix(int64(c.Sec), int64(c.Nsec)) //nolint:unconvert // 32 bits on some systems
}
