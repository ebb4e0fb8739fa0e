package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// Replace puts data at path, in the place of what is there: written beside
// under Temp, synced, renamed. With dirSync the name is made durable too. A
// reader sees the old file or the new one.
func (d *FS) Replace(path string, data []byte, dirSync bool) error {
	// With static permissions the library looks at the file it has made, and
	// leaves it behind when it cannot.
	t, err := renameio.NewPendingFile(path, renameio.WithTempDir(d.Temp), renameio.WithPermissions(d.File.Perm()))
	if err != nil {
		return err
	}
	defer func() { _ = t.Cleanup() }()
	if d.File.Perm()&umask != 0 {
		if err := t.Chmod(d.File.Perm()); err != nil {
			return err
		}
	}
	if _, err := t.Write(data); err != nil {
		return err
	}
	if err := t.CloseAtomicallyReplace(); err != nil {
		return err
	}
	if !dirSync {
		return nil
	}
	return d.SyncDir(filepath.Dir(path))
}

// ReplaceLazily is Replace without a sync: after a crash the old file, the new
// one or an empty one may be there.
func (d *FS) ReplaceLazily(path string, data []byte) error {
	return d.beside(path, data, os.Rename)
}

// Put publishes data at path, which must be free (fs.ErrExist), from a temp
// file under Temp that is gone afterwards, whatever happens. The file is
// whole from the first moment it has its name; neither it nor its directory is
// synced.
func (d *FS) Put(path string, data []byte) error { return d.beside(path, data, Publish) }

func (d *FS) beside(path string, data []byte, name func(from, to string) error) error {
	suffix, err := d.Suffix()
	if err != nil {
		return err
	}
	temp := filepath.Join(d.Temp, filepath.Base(path)+"."+suffix)
	f, err := d.Create(temp)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = name(temp, path)
	}
	if err != nil {
		_ = Remove(temp)
	}
	return err
}

// Append adds line to the file at path, made where it is missing, in one
// write(2): lines of several processes do not mix. It syncs nothing.
func (d *FS) Append(path string, line []byte) error {
	const flags = unix.O_WRONLY | unix.O_APPEND | unix.O_NOFOLLOW | unix.O_NONBLOCK
	f, err := openAt(path, flags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = d.Create(path); err == nil {
			_ = f.Close()
		}
		if err == nil || errors.Is(err, fs.ErrExist) {
			f, err = openAt(path, flags, 0)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	_ = f.Close()
	return err
}
