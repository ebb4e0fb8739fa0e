package board

import (
	"fmt"
	"slices"

	"xfer/spool"
)

// Join is the card that has what any of them has. All are versions of one
// card; there is at least one.
func Join(first *Card, others ...*Card) *Card {
	c := first.clone()
	for _, o := range others {
		front := lesserFront(c, o)
		c.front, c.Title, c.CreatedBy, c.CreatedAt = front.front, front.Title, front.CreatedBy, front.CreatedAt
		c.Entries = append(c.Entries, o.Entries...)
		c.free = append(c.free, o.free...)
		c.gone = append(c.gone, o.gone...)
	}
	if len(others) > 0 {
		c.dropDoubles()
		c.normalize()
	}
	return c
}

func (c *Card) clone() *Card {
	d := *c
	d.Entries, d.free, d.gone = slices.Clone(c.Entries), slices.Clone(c.free), slices.Clone(c.gone)
	return &d
}

// dropDoubles leaves one of equal things. Sorting is what brings them together;
// absorbing, in normalize, needs them to be a set by then.
func (c *Card) dropDoubles() {
	slices.SortFunc(c.Entries, compareEntries)
	c.Entries = slices.CompactFunc(c.Entries, func(a, b Entry) bool { return compareEntries(a, b) == 0 })
	slices.SortFunc(c.free, compareBlocks)
	c.free = slices.CompactFunc(c.free, func(a, b block) bool { return a == b })
}

// A merging takes one person's edit into a card that went on meanwhile.
type merging struct {
	base, mine, theirs *Card
	notes              []string
	lost               []string // what of mine is not in the result
}

// mergeEdit joins mine and theirs, less what either took out of base on
// purpose: what an editor deleted stays deleted, and what it replaced is
// replaced.
func mergeEdit(base, mine, theirs *Card) (*Card, *merging) {
	m := &merging{base: base, mine: mine.clone(), theirs: theirs.clone()}
	m.removeEntries()
	mineOut, theirsOut := removedBy(base, mine), removedBy(base, theirs)
	m.mine.takeOut(theirsOut)
	m.theirs.takeOut(mineOut)
	m.noteBoth(mineOut, theirsOut)
	c := Join(m.theirs, m.mine)
	m.chooseFront(c)
	m.noteGone(c)
	return c, m
}

// removeEntries turns what mine has deleted whole into gone ids, but for what
// theirs has given another text.
func (m *merging) removeEntries() {
	for _, id := range m.base.ids() {
		if len(m.mine.versions(id)) > 0 || m.mine.isGone(string(id)) {
			continue
		}
		theirs := m.theirs.versions(id)
		if slices.EqualFunc(theirs, m.base.versions(id), equalEntries) || len(theirs) == 0 {
			m.theirs.gone = append(m.theirs.gone, string(id))
			continue
		}
		m.notes = append(m.notes, fmt.Sprintf("entry %s was changed meanwhile: it stays", id))
	}
	slices.Sort(m.theirs.gone)
}

// noteBoth tells what both have changed.
func (m *merging) noteBoth(mineOut, theirsOut *Card) {
	for _, id := range mineOut.ids() {
		mine, theirs := m.mine.versions(id), m.theirs.versions(id)
		if len(mine) > 0 && len(theirs) > 0 && !slices.EqualFunc(mine, theirs, equalEntries) {
			m.notes = append(m.notes, fmt.Sprintf("entry %s was changed meanwhile: both texts are kept", id))
		}
	}
	for _, f := range mineOut.free {
		if slices.Contains(theirsOut.free, f) && !slices.Equal(m.mine.free, m.theirs.free) {
			m.notes = append(m.notes, "free text was changed meanwhile: both texts are kept")
			return
		}
	}
}

// chooseFront takes the front matter of whoever changed it; theirs where both
// did.
func (m *merging) chooseFront(c *Card) {
	from := m.theirs
	switch {
	case m.mine.front == m.base.front, m.mine.front == m.theirs.front:
	case m.theirs.front == m.base.front:
		from = m.mine
	default:
		m.lost = append(m.lost, "the front matter was changed meanwhile")
	}
	c.front, c.Title, c.CreatedBy, c.CreatedAt = from.front, from.Title, from.CreatedBy, from.CreatedAt
}

// noteGone tells what mine has written into entries that were removed
// meanwhile.
func (m *merging) noteGone(c *Card) {
	for _, e := range removedBy(m.mine, m.base).Entries {
		if c.isGone(string(e.ID)) {
			m.lost = append(m.lost, fmt.Sprintf("entry %s was removed meanwhile", e.ID))
		}
	}
	if c.isGone(string(c.ID)) && !m.base.isGone(string(c.ID)) {
		m.lost = append(m.lost, "the card was removed meanwhile")
	}
}

// removedBy is what of base is not in c.
func removedBy(base, c *Card) *Card {
	out := &Card{}
	for _, e := range base.Entries {
		if !c.has(e) {
			out.Entries = append(out.Entries, e)
		}
	}
	for _, f := range base.free {
		if !slices.Contains(c.free, f) {
			out.free = append(out.free, f)
		}
	}
	return out
}

func (c *Card) takeOut(out *Card) {
	c.Entries = slices.DeleteFunc(c.Entries, out.has)
	c.free = slices.DeleteFunc(c.free, func(f block) bool { return slices.Contains(out.free, f) })
}

func (c *Card) has(e Entry) bool {
	_, found := slices.BinarySearchFunc(c.Entries, e, compareEntries)
	return found
}

// versions are the entries of one id.
func (c *Card) versions(id spool.ID) []Entry {
	at, _ := slices.BinarySearchFunc(c.Entries, id, func(e Entry, id spool.ID) int {
		switch {
		case e.ID < id:
			return -1
		case e.ID > id:
			return 1
		}
		return 0
	})
	end := at
	for end < len(c.Entries) && c.Entries[end].ID == id {
		end++
	}
	return c.Entries[at:end]
}

// ids are those of the entries, each once, in their order.
func (c *Card) ids() []spool.ID {
	var all []spool.ID
	for i := range c.Entries {
		if i == 0 || c.Entries[i].ID != c.Entries[i-1].ID {
			all = append(all, c.Entries[i].ID)
		}
	}
	return all
}

func equalEntries(a, b Entry) bool { return compareEntries(a, b) == 0 }
