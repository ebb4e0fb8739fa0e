package spool

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"xfer/internal/durable"
)

// A Mailbox is where one peer's handoffs stand.
type Mailbox struct {
	s    *Spool
	name Name
	dir  string

	batch *Batch // whose mailbox this is; nil: nobody's

	suffixed suffixed
	homes    homes
	syncs    sharedSyncs
}

// suffixed remembers which names in cur/ a mail reader gave an info suffix.
type suffixed struct {
	mu    sync.Mutex
	read  time.Time // when cur/ was begun to be read, or seen not to have changed
	stamp int64     // of cur/ then; 0: it may change without showing it
	names map[ID]string
}

// Name is the peer's name.
func (m *Mailbox) Name() Name { return m.name }

// Path is where id stands, or would stand, in place p.
func (m *Mailbox) Path(p Place, id ID) string { return m.file(p, id) }

// Mailbox opens the mailbox of peer n. The error is ErrNoPeer where there is
// none, and ErrMalformed where its directory is a link or something else.
func (s *Spool) Mailbox(n Name) (*Mailbox, error) {
	m := &Mailbox{s: s, name: n, dir: s.peerDir(n)}
	for _, dir := range []string{s.peersDir(), m.dir} {
		err := isDir(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, ErrNoPeer
		case err != nil:
			return nil, err
		}
	}
	return m, nil
}

// isDir is ErrMalformed for a link and for whatever else is no directory.
func isDir(dir string) error {
	err := durable.IsDir(dir)
	if errors.Is(err, syscall.ENOTDIR) {
		return Because(ErrMalformed, dir+" is not a directory")
	}
	return err
}

// MakeMailbox opens the mailbox of peer n, which it makes where there is none;
// made tells whether it did. It claims nothing: who works the mailbox is
// decided by the first receiver or take.
func (s *Spool) MakeMailbox(n Name) (m *Mailbox, made bool, err error) {
	m, err = s.Mailbox(n)
	if !errors.Is(err, ErrNoPeer) {
		return m, false, err
	}
	m = &Mailbox{s: s, name: n, dir: s.peerDir(n)}
	return m, true, m.make()
}

// make makes the mailbox, or what is missing of it: somebody may have removed
// directories that were empty.
func (m *Mailbox) make() error {
	dirs := []string{m.s.peersDir(), m.dir, m.tmpDir()}
	for _, p := range Places {
		dirs = append(dirs, m.placeDir(p))
	}
	for _, dir := range dirs {
		if err := m.s.fs.Mkdir(dir); err != nil {
			return err
		}
	}
	return nil
}

// retry does step, and again after making what it found missing.
func (m *Mailbox) retry(step func() error) error {
	return again(step, m.make)
}

// syncPlace makes the names in p durable. That it is gone says that whatever came
// there has been moved on since, and the place been removed empty.
func (m *Mailbox) syncPlace(p Place) error {
	return m.syncs.do(p, func() error {
		return m.retry(func() error { return m.s.fs.SyncDir(m.placeDir(p)) })
	})
}

// Peers are the names that have a mailbox, sorted. What is in peers/ and is not
// a mailbox is passed over.
func (s *Spool) Peers() ([]Name, error) {
	entries, err := os.ReadDir(s.peersDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []Name
	for _, e := range entries {
		if e.IsDir() && nameFault(e.Name()) == "" {
			names = append(names, Name(e.Name()))
		}
	}
	slices.Sort(names)
	return names, nil
}
