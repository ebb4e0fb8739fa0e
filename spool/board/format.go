package board

import (
	"bytes"
	"strings"

	"xfer/spool"
)

// Format is the card as it is written: the same bytes for the same content.
func (c *Card) Format() []byte {
	var b bytes.Buffer
	b.Grow(c.bytes())
	b.WriteString(fence + "\n")
	b.WriteString(c.front)
	b.WriteString(fence + "\n")
	free := writeFree(&b, c.free, "")
	for i := range c.Entries {
		e := &c.Entries[i]
		if i > 0 && c.Entries[i-1].ID != e.ID {
			free = writeFree(&b, free, c.Entries[i-1].ID)
		}
		writeLines(&b, e.heading)
		if e.raw != "" {
			writeLines(&b, e.raw)
		}
	}
	if n := len(c.Entries); n > 0 {
		writeFree(&b, free, c.Entries[n-1].ID)
	}
	if len(c.gone) > 0 {
		writeLines(&b, goneMark+" "+strings.Join(c.gone, " ")+" "+commentEnd)
	}
	return b.Bytes()
}

// writeLines writes text after an empty line.
func writeLines(b *bytes.Buffer, text string) {
	b.WriteByte('\n')
	b.WriteString(text)
	b.WriteByte('\n')
}

// writeFree writes the blocks under an entry, with a line between two, and
// before the first where it would read as part of the entry. It returns the
// blocks that are left.
func writeFree(b *bytes.Buffer, free []block, under spool.ID) []block {
	for i, f := range free {
		if f.under != under {
			return free[i:]
		}
		if line, _ := cutLine(f.text); i > 0 || under != "" && !isForeign(line) {
			writeLines(b, alsoLine)
		}
		writeLines(b, f.text)
	}
	return nil
}

func (c *Card) bytes() int {
	n := len(c.front) + 16
	for i := range c.Entries {
		n += len(c.Entries[i].heading) + len(c.Entries[i].raw) + 4
	}
	for i := range c.free {
		n += len(c.free[i].text) + len(alsoLine) + 4
	}
	for _, id := range c.gone {
		n += len(id) + 1
	}
	return n + len(goneMark) + len(commentEnd) + 8
}

// newEntry is an entry with this text, which is not escaped yet.
func newEntry(d *Draft, id spool.ID) Entry {
	heading := headingMark + strings.Join([]string{string(id), string(d.Type), string(d.Author), d.at.Format(timeForm)}, fieldMark)
	return Entry{ID: id, Type: string(d.Type), Author: string(d.Author), At: d.at, heading: heading, raw: escape(trimBlank(d.Text))}
}

// timeForm is RFC 3339 in UTC.
const timeForm = "2006-01-02T15:04:05Z"
