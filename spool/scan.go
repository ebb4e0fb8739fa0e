package spool

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"xfer/internal/durable"
)

// An entry is the name of a handoff in a place.
type entry struct {
	id    ID
	place Place
	file  string // its name in the place: the id, in cur/ perhaps with an info suffix
}

func (m *Mailbox) path(e entry) string { return filepath.Join(m.placeDir(e.place), e.file) }

// parseFile reads a file's name in a place. A mail reader marks what it has
// seen in cur/ with an info suffix (":2,S"; ";" or "!" where the filesystem
// takes no colon).
func parseFile(p Place, file string) (ID, bool) {
	if isID(file) {
		return ID(file), true
	}
	if p == Cur && len(file) > idLen+2 && isID(file[:idLen]) && strings.IndexByte(":;!", file[idLen]) >= 0 && file[idLen+1] == '2' && file[idLen+2] == ',' {
		return ID(file[:idLen]), true
	}
	return "", false
}

// A listing is what a scan found: names only, unsorted.
type listing struct {
	entries []entry
	strays  []string // names that are not a handoff's
}

// scan reads the names in places, one after the other. A place that is not
// there is empty.
func (m *Mailbox) scan(places ...Place) (l listing, err error) {
	found, most := make([][]string, len(places)), 0
	for i, p := range places {
		if found[i], err = m.readPlace(p); err != nil {
			return l, err
		}
		most += len(found[i])
	}
	l.entries = make([]entry, 0, most)
	for i, p := range places {
		l.add(p, found[i])
	}
	return l, nil
}

func (l *listing) add(p Place, names []string) {
	doubled, before := false, len(l.entries)
	for _, name := range names {
		id, ok := parseFile(p, name)
		switch {
		case ok:
			l.entries = append(l.entries, entry{id, p, name})
			doubled = doubled || len(name) > idLen
		case p == Bad && isAside(name):
		default:
			l.strays = append(l.strays, name)
		}
	}
	if doubled {
		l.dropDoubles(before)
	}
}

// readPlace is every name in place p; what it finds of suffixes is remembered.
func (m *Mailbox) readPlace(p Place) ([]string, error) {
	if p != Cur {
		return readNames(m.placeDir(p))
	}
	m.suffixed.mu.Lock()
	defer m.suffixed.mu.Unlock()
	began := time.Now()
	info, err := os.Lstat(m.placeDir(Cur))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, err := readNames(m.placeDir(Cur))
	if err == nil {
		m.suffixed.set(began, info.ModTime(), names)
	}
	return names, err
}

// strayNote tells that there are n strays.
func strayNote(n int) string {
	if n == 1 {
		return "1 name in the mailbox is not a handoff's and is left alone"
	}
	return strconv.Itoa(n) + " names in the mailbox are not handoffs' and are left alone"
}

// dropDoubles keeps of two names of one id in cur/ the exact one: the other is
// a copy that a sync tool brought back. cur/ begins at from.
func (l *listing) dropDoubles(from int) {
	slices.SortFunc(l.entries[from:], func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.file, b.file))
	})
	kept := l.entries[:from]
	for _, e := range l.entries[from:] {
		if len(kept) > from && kept[len(kept)-1].id == e.id {
			l.strays = append(l.strays, e.file)
			continue
		}
		kept = append(kept, e)
	}
	l.entries = kept
}

// readNames is every name in dir; none where dir is not there. It follows no
// link.
func readNames(dir string) ([]string, error) {
	f, err := durable.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	names, err := durable.NamesIn(f)
	if errors.Is(err, fs.ErrNotExist) { // removed after it was opened
		return nil, nil
	}
	return names, err
}

// at looks for id in place p, by its exact name first.
func (m *Mailbox) at(p Place, id ID) (e entry, info fs.FileInfo, err error) {
	return m.atSince(p, id, time.Now())
}

// atSince is at, but that what is known of suffixes may be as old as since.
func (m *Mailbox) atSince(p Place, id ID, since time.Time) (e entry, info fs.FileInfo, err error) {
	e = entry{id, p, string(id)}
	info, err = os.Lstat(m.path(e))
	if p != Cur || !errors.Is(err, fs.ErrNotExist) {
		return e, info, err
	}
	name, serr := m.suffixedName(id, since)
	if serr != nil || name == "" {
		return e, nil, cmp.Or(serr, err)
	}
	e.file = name
	info, err = os.Lstat(m.path(e))
	return e, info, err
}

// suffixedName is the name with an info suffix that id has in cur/, if any, as
// of since or later.
func (m *Mailbox) suffixedName(id ID, since time.Time) (string, error) {
	m.suffixed.mu.Lock()
	defer m.suffixed.mu.Unlock()
	if !m.suffixed.read.After(since) {
		if err := m.readSuffixed(); err != nil {
			return "", err
		}
	}
	return m.suffixed.names[id], nil
}

// readSuffixed reads cur/, unless it has not changed since it was read.
func (m *Mailbox) readSuffixed() error {
	s, began := &m.suffixed, time.Now()
	info, err := os.Lstat(m.placeDir(Cur))
	if errors.Is(err, fs.ErrNotExist) {
		s.read, s.stamp, s.names = began, 0, nil
		return nil
	}
	if err != nil {
		return err
	}
	if info.ModTime().UnixNano() == s.stamp {
		s.read = began
		return nil
	}
	names, err := readNames(m.placeDir(Cur))
	if err == nil {
		s.set(began, info.ModTime(), names)
	}
	return err
}

// set remembers what of names, read at began from a cur/ that had changed last
// at changed, has a suffix.
func (s *suffixed) set(began, changed time.Time, names []string) {
	s.read, s.stamp, s.names = began, changed.UnixNano(), make(map[ID]string)
	// A directory that changed within the clock's grain may change again
	// without showing it.
	if began.Sub(changed) < time.Second {
		s.stamp = 0
	}
	for _, name := range names {
		if len(name) <= idLen {
			continue
		}
		if id, ok := parseFile(Cur, name); ok {
			s.names[id] = name
		}
	}
}

// stands is at, but that in bad/ only a whole handoff says anything about its
// id: what a sync tool is still bringing there has not been handled.
func (m *Mailbox) stands(p Place, id ID, since time.Time) (entry, error) {
	e, _, err := m.atSince(p, id, since)
	if err != nil || p != Bad {
		return e, err
	}
	f, err := openFile(m.path(e), id)
	if err == nil {
		_, err = f.Verify()
		_ = f.Close()
	}
	if err != nil && passIncomplete(err) == nil {
		return e, fs.ErrNotExist
	}
	return e, err
}

// find is every place in which id stands, from left to right.
func (m *Mailbox) find(id ID) ([]entry, error) {
	var found []entry
	now := time.Now()
	for _, p := range Places {
		e, err := m.stands(p, id, now)
		if err == nil {
			found = append(found, e)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return found, nil
}

// lookAgain is how long an id that was found nowhere is waited for: a sync
// tool that renames shows neither name for some milliseconds.
const lookAgain = 100 * time.Millisecond

// findTwice is find, and once more a little later where nothing was found.
func (m *Mailbox) findTwice(id ID) ([]entry, error) {
	found, err := m.find(id)
	if err != nil || len(found) > 0 {
		return found, err
	}
	m.s.sys.Wait(lookAgain)
	return m.find(id)
}

// rightmost is the entry that counts where an id shows in several places.
func rightmost(found []entry) entry { return found[len(found)-1] }
