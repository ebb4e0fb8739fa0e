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
	TakenAt time.Time `json:"taken_at,omitzero"`

	// Of a handler.
	Attempts int        `json:"attempts,omitempty"` // that counted
	Deferred int        `json:"deferred,omitempty"` // that asked for later, or were cut short
	Status   *int       `json:"status,omitempty"`   // of the last
	TimedOut bool       `json:"timed_out,omitempty"`
	Seconds  float64    `json:"seconds,omitempty"` // that the last one took
	EndedAt  *time.Time `json:"ended_at,omitempty"`
	NextAt   *time.Time `json:"next_at,omitempty"` // when it is tried again
	Stderr   string     `json:"stderr,omitempty"`  // the end of what the last one printed there
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
	// Evidence needs no sync.
	return s.retryMade(func() error { return s.fs.ReplaceLazily(s.runFile(id), append(b, '\n')) }, s.localDir(), s.tempDir(), s.runDir())
}

// released tells whether the task id, in work/, is to be offered again.
func (s *Spool) released(id ID) (bool, error) {
	_, err := os.Lstat(s.releasedFile(id))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
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
