package spool

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"xfer/internal/durable"
)

// Export writes the body of h to the file DIR/ID, durably. The file is whole
// from the first moment it has its name; one that is there already is left
// alone if it has the same bytes, else the error is ErrConflict.
func (s *Spool) Export(h *File, dir string) (path string, err error) {
	d := s.fs
	d.Dir, d.File = privateDir, privateFile
	path = filepath.Join(dir, string(h.ID))
	suffix, err := s.suffix()
	if err != nil {
		return "", err
	}
	temp := filepath.Join(dir, "."+string(h.ID)+"."+suffix)
	f, err := d.Create(temp)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, h.Body())
	if err == nil {
		err = d.Sync(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = durable.Publish(temp, path)
	}
	if err != nil {
		_ = durable.Remove(temp)
	}
	if errors.Is(err, fs.ErrExist) {
		return path, h.exportedBefore(path)
	}
	if err != nil {
		return "", err
	}
	return path, d.SyncDir(dir)
}

// exportedBefore is nil when the file at path has the body of h: an earlier
// take was cut off before it could commit.
func (h *File) exportedBefore(path string) error {
	f, info, err := durable.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	digest, err := digestOf(io.NewSectionReader(f, 0, info.Size()))
	if err != nil {
		return err
	}
	if digest != h.Digest {
		return Because(ErrConflict, path+" is already there with other content")
	}
	return nil
}
