package spool

import (
	"os"
	"time"

	"xfer/internal/durable"
)

// A glance is what was seen of a mailbox after a group of its handoffs was
// locked: which of them stand in a place too. It spares a look at each place for
// each handoff, which on a disk costs more than all the rest but the rename.
type glance struct {
	since time.Time             // what is known of suffixes may be as old
	seen  map[Place]map[ID]bool // by places that were read whole
	known bool                  // the spans of what segments remember
	spans []span
}

// A place is read for a group when that is less work than to look for each.
const (
	leastGlanced = 16 // handoffs
	namesEach    = 32 // in a place, for each handoff
	nameSize     = 20 // bytes that a name takes in a directory, at least
)

// glance looks around for the group.
func (m *Mailbox) glance(group []*lockedEntry) *glance {
	g := &glance{since: time.Now()}
	if len(group) < leastGlanced {
		return g
	}
	ids := make(map[ID]bool, len(group))
	for _, l := range group {
		ids[l.id] = true
	}
	g.seen = make(map[Place]map[ID]bool)
	for _, p := range Places {
		if p == New {
			continue
		}
		// What cannot be read is looked for one by one, and then told.
		if seen, err := m.seenIn(p, ids); err == nil {
			g.seen[p] = seen
		}
	}
	// After the places: a fold comes before the handoff goes.
	spans, err := segments{m.pastDir()}.spans()
	g.spans, g.known = spans, err == nil
	return g
}

// seenIn is which of ids stand in p under any name; nil where p has too many
// to be read for them.
func (m *Mailbox) seenIn(p Place, ids map[ID]bool) (map[ID]bool, error) {
	seen := make(map[ID]bool)
	info, err := os.Lstat(m.placeDir(p))
	if os.IsNotExist(err) {
		return seen, nil
	}
	if err != nil || info.Size() > int64(len(ids)*namesEach*nameSize) {
		return nil, err
	}
	f, err := durable.OpenDir(m.placeDir(p))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(-1)
	for _, name := range names {
		if id, ok := parseFile(p, name); ok && ids[id] {
			seen[id] = true
		}
	}
	return seen, err
}

// absent tells that id was in p under no name.
func (g *glance) absent(p Place, id ID) bool {
	seen := g.seen[p]
	return seen != nil && !seen[id]
}

// forgotten tells that no segment remembered id, if it stood nowhere else.
func (g *glance) forgotten(id ID) bool { return g.known && !cover(g.spans, id) }
