package durable

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrChanged says that a file is not what Swap was told to expect. Nothing was
// replaced.
var ErrChanged = errors.New("changed by somebody else")

// Exchange gives two files each other's name, in one step that nobody sees half
// of. The error is errors.ErrUnsupported where the system cannot.
func Exchange(one, other string) error {
	for {
		err := unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
		switch err {
		case nil:
			return nil
		case syscall.EINTR:
			continue
		case syscall.EINVAL: // the filesystem lacks the flag
			err = syscall.ENOSYS
		}
		return &os.LinkError{Op: "exchange", Old: one, New: other, Err: err}
	}
}

// Rename gives the file at from the name to, whatever is there. It is for
// replaceable files only.
func Rename(from, to string) error { return os.Rename(from, to) }

// Swap puts the file at temp in the place of the one at path, and what was
// there at temp, for the caller to look at: somebody may have been faster than
// whoever read it last. Where the system cannot exchange two files, the one at
// path is compared first, by same, and then replaced; temp is gone then, and
// exchanged is false. ErrChanged: same said no.
func Swap(temp, path string, same func() (bool, error)) (exchanged bool, err error) {
	err = Exchange(temp, path)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err == nil, err
	}
	ok, err := same()
	if err == nil && !ok {
		err = &os.LinkError{Op: "replace", Old: temp, New: path, Err: ErrChanged}
	}
	if err != nil {
		return false, err
	}
	return false, Rename(temp, path)
}
