package durable

import (
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Replace puts data at path, in the place of what is there: written beside
// under Temp, synced, renamed. With dirSync the name is made durable too. A
// reader sees the old file or the new one.
func (d *FS) Replace(path string, data []byte, dirSync bool) error {
	t, err := renameio.NewPendingFile(path, renameio.WithTempDir(d.Temp), renameio.WithStaticPermissions(d.File.Perm()))
	if err != nil {
		return err
	}
	defer func() { _ = t.Cleanup() }()
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
