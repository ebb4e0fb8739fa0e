// Package loops has the bare loops that the library is measured against: the
// system calls that a promise cannot do without, in their order, and nothing
// else. They are yardsticks and no way to handle a spool.
package loops

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"xfer/internal/durable"
)

// Together is how many share one sync of a directory in Drain.
const Together = 64

// Drain moves what is in new/ of the mailbox to cur/, oldest first: open, lock,
// read, hash, rename, and a sync of cur/ for each Together.
func Drain(mailbox string) error {
	todo, err := Names(filepath.Join(mailbox, "new"))
	if err != nil {
		return err
	}
	slices.Sort(todo)
	for i, name := range todo {
		if err := receive(mailbox, name); err != nil {
			return err
		}
		if i%Together == Together-1 || i == len(todo)-1 {
			if err := syncDir(filepath.Join(mailbox, "cur")); err != nil {
				return err
			}
		}
	}
	return nil
}

func receive(mailbox, name string) error {
	from := filepath.Join(mailbox, "new", name)
	f, err := os.OpenFile(from, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	header, body, _ := bytes.Cut(text, []byte("\n\n"))
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(body)); !bytes.Contains(header, []byte(want)) {
		return fmt.Errorf("%s: another digest", name)
	}
	return durable.Publish(from, filepath.Join(mailbox, "cur", name))
}

// Oldest reads every name in dir and is the least of them.
func Oldest(dir string) (string, error) {
	names, err := Names(dir)
	if err != nil || len(names) == 0 {
		return "", err
	}
	return slices.Min(names), nil
}

// Names are those in dir, in no order.
func Names(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return f.Readdirnames(-1)
}

// Append adds entry to the card at path as its writers have to: lock, read,
// write anew, fsync, rename, fsync of the directory.
func Append(lock *os.File, path, entry string) error {
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	defer func() { _ = unix.Flock(int(lock.Fd()), unix.LOCK_UN) }()
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := writeSynced(path+".tmp", append(data, entry...)); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil { //nolint:forbidigo // replaces what was read
		return err
	}
	return syncDir(filepath.Dir(path))
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return f.Sync()
}
