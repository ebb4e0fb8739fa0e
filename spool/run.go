package spool

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"xfer/internal/durable"
)

// A Run is what this host knows of the work on a handoff: local/run/ID. It is
// evidence for people and decides nothing.
type Run struct {
	TakenBy string    `json:"taken_by,omitempty"`
	TakenAt time.Time `json:"taken_at"`
}

const maxRun = 64 << 10

// RunOf is what this host knows of the work on id; found is false where it
// knows nothing.
func (s *Spool) RunOf(id ID) (r Run, found bool) {
	b, err := durable.ReadRegular(s.runFile(id), maxRun)
	return r, err == nil && json.Unmarshal(b, &r) == nil
}

func (s *Spool) writeRun(id ID, r Run) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	err = durable.Remove(s.runFile(id)) // Put replaces nothing, and evidence needs no fsync
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.retryMade(func() error { return s.fs.Put(s.runFile(id), append(b, '\n')) }, s.localDir(), s.tempDir(), s.runDir())
}

// released tells whether the task id, in work/, is to be offered again.
func (s *Spool) released(id ID) bool {
	_, err := os.Lstat(s.releasedFile(id))
	return err == nil
}

// releasedIDs are the tasks that are to be offered again.
func (s *Spool) releasedIDs() ([]ID, error) {
	names, err := readNames(s.releasedDir())
	if err != nil {
		return nil, err
	}
	var ids []ID
	for _, name := range names {
		if isID(name) {
			ids = append(ids, ID(name))
		}
	}
	return ids, nil
}

func (s *Spool) markReleased(id ID) error {
	err := s.retryMade(func() error { return s.fs.Put(s.releasedFile(id), nil) }, s.localDir(), s.tempDir(), s.releasedDir())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.fs.SyncDir(s.releasedDir())
}

func (s *Spool) unmarkReleased(id ID) error {
	err := durable.Remove(s.releasedFile(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
