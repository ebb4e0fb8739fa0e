package board

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"xfer/spool"
)

// maxCard is the most bytes that a card has: it is read and written whole.
const maxCard = 16 << 20

// Parse reads a card. The error is spool.ErrBrokenCard, with the reason.
func Parse(data []byte) (*Card, error) {
	c, body, err := parseFront(string(data))
	if err != nil {
		return nil, err
	}
	c.readBody(body)
	return c, nil
}

// parseFront reads the front matter of a card, and returns what follows it. All
// that can be wrong with a card is found here.
func parseFront(text string) (c *Card, body string, err error) {
	switch {
	case len(text) > maxCard:
		return nil, "", broken("it has more than " + strconv.Itoa(maxCard) + " bytes")
	case !utf8.ValidString(text):
		return nil, "", broken("it is not UTF-8")
	}
	front, body, err := cutFront(text)
	if err != nil {
		return nil, "", err
	}
	c = &Card{front: front}
	return c, body, c.readFront()
}

// A region is what the lines before a mark belong to: an entry, or free text.
type region struct {
	entry Entry // without an id: free text
	under spool.ID
	text  string
}

func (c *Card) readBody(text string) {
	c.Entries = make([]Entry, 0, strings.Count(text, "\n"+headingMark)+1)
	r := region{}
	begin := 0
	marks := newMarks(text)
	for at := marks.next(); at < len(text); at = marks.next() {
		line, _ := cutLine(text[at:])
		next := min(at+len(line)+1, len(text))
		if ids, ok := parseGone(line); ok {
			r.text += text[begin:at]
			c.gone = append(c.gone, ids...)
			begin = next
		} else if e, mark := parseMark(line, r.entry.ID != ""); mark {
			r.text += text[begin:at]
			c.add(&r)
			r, begin = r.after(e), next
			if e.ID == "" && line[0] == '#' {
				begin = at // a foreign heading is part of what it begins
			}
		}
	}
	r.text += text[begin:]
	c.add(&r)
	c.normalize()
}

// marks finds the lines that may be marks of the format: searching for these
// two beginnings is much quicker than looking at each line.
type marks struct {
	text             string
	heading, comment int // where the next of each begins; len(text): none
}

const commentMark = "<!-- "

func newMarks(text string) *marks {
	m := &marks{text: text, heading: -1, comment: -1}
	m.heading, m.comment = m.find(headingMark, m.heading), m.find(commentMark, m.comment)
	return m
}

// find is where the first line after the one at from begins with mark.
func (m *marks) find(mark string, from int) int {
	if from < 0 && strings.HasPrefix(m.text, mark) {
		return 0
	}
	from = max(from, 0)
	if i := strings.Index(m.text[from:], "\n"+mark); i >= 0 {
		return from + i + 1
	}
	return len(m.text)
}

func (m *marks) next() int {
	if m.heading < m.comment {
		at := m.heading
		m.heading = m.find(headingMark, at)
		return at
	}
	at := m.comment
	if at < len(m.text) {
		m.comment = m.find(commentMark, at)
	}
	return at
}

// after is the region that a mark opens: the entry e, or free text.
func (r *region) after(e Entry) region {
	if e.ID != "" {
		return region{entry: e, under: e.ID}
	}
	return region{under: r.under}
}

// add puts what a region holds into the card.
func (c *Card) add(r *region) {
	text := trimBlank(r.text)
	if r.entry.ID != "" {
		r.entry.raw = text
		c.Entries = append(c.Entries, r.entry)
	} else if text != "" {
		c.free = append(c.free, block{r.under, text})
	}
}

// parseMark tells whether line ends what stands before it: the heading of an
// entry; the line between two blocks of free text; and, under an entry, the
// heading of another tool's entry, with which free text begins.
func parseMark(line string, inEntry bool) (e Entry, mark bool) {
	if line[0] == '<' {
		return e, trimEnd(line) == alsoLine
	}
	if e, ok := parseHeading(line); ok {
		return e, true
	}
	return e, inEntry && isForeign(line)
}

// parseHeading reads "### ID · type · author · time", by hand: a card has
// thousands of these.
func parseHeading(line string) (e Entry, ok bool) {
	e.heading = trimEnd(line)
	rest, ok := strings.CutPrefix(e.heading, headingMark)
	if !ok {
		return Entry{}, false
	}
	id, rest, _ := strings.Cut(rest, fieldMark)
	e.Type, rest, _ = strings.Cut(rest, fieldMark)
	author, when, _ := strings.Cut(rest, fieldMark)
	e.Author = author
	var err error
	if e.ID, err = spool.ParseID(id); err != nil || e.Type == "" || e.Author == "" {
		return Entry{}, false
	}
	e.At, err = time.Parse(time.RFC3339, when)
	return e, err == nil
}

// isForeign tells whether line is the heading of another tool's entry.
func isForeign(line string) bool {
	rest, ok := strings.CutPrefix(line, headingMark)
	token, _, found := strings.Cut(rest, fieldMark)
	return ok && found && token != "" && !strings.ContainsAny(token, " \t")
}

func parseGone(line string) (ids []string, ok bool) {
	rest, ok := strings.CutPrefix(trimEnd(line), goneMark)
	if !ok {
		return nil, false
	}
	if rest, ok = strings.CutSuffix(rest, commentEnd); !ok || strings.Contains(rest, commentEnd) {
		return nil, false
	}
	return strings.Fields(rest), true
}

// normalize brings what was read, or put together, into the one form that the
// same content has on every host.
func (c *Card) normalize() {
	slices.Sort(c.gone)
	c.gone = slices.Compact(c.gone)
	if len(c.gone) > 0 {
		c.bury()
	}
	if !slices.IsSortedFunc(c.Entries, compareEntries) {
		slices.SortFunc(c.Entries, compareEntries)
	}
	c.Entries = absorb(c.Entries, func(a, b *Entry) bool { return a.heading == b.heading && strings.HasPrefix(b.raw, a.raw) },
		func(a, b *Entry) bool { return begins(a.raw, b.raw) })
	slices.SortFunc(c.free, compareBlocks)
	c.free = absorb(c.free, func(a, b *block) bool { return a.under == b.under && strings.HasPrefix(b.text, a.text) },
		func(a, b *block) bool { return begins(a.text, b.text) })
}

// bury takes out what is gone. Free text under a removed entry goes to the
// beginning, whatever other entries there are: where the same text ends must
// not depend on what has been merged so far.
func (c *Card) bury() {
	c.Entries = slices.DeleteFunc(c.Entries, func(e Entry) bool { return c.isGone(string(e.ID)) })
	if c.isGone(string(c.ID)) {
		c.free = nil
	}
	for i := range c.free {
		if c.isGone(string(c.free[i].under)) {
			c.free[i].under = ""
		}
	}
}

func compareEntries(a, b Entry) int {
	if n := strings.Compare(string(a.ID), string(b.ID)); n != 0 {
		return n
	}
	if n := strings.Compare(a.heading, b.heading); n != 0 {
		return n
	}
	return strings.Compare(a.raw, b.raw)
}

func compareBlocks(a, b block) int {
	if n := strings.Compare(string(a.under), string(b.under)); n != 0 {
		return n
	}
	return strings.Compare(a.text, b.text)
}

// absorb drops what another one says too. In sorted order those that a begins
// follow it in a row (near); within tells which of them hold all of it.
func absorb[T any](all []T, near, within func(a, b *T) bool) []T {
	alone := 1
	for alone < len(all) && !near(&all[alone-1], &all[alone]) {
		alone++
	}
	if alone >= len(all) {
		return all
	}
	kept := all[:alone-1]
	for i := alone - 1; i < len(all); i++ {
		held := false
		for j := i + 1; !held && j < len(all) && near(&all[i], &all[j]); j++ {
			held = within(&all[i], &all[j])
		}
		if !held {
			kept = append(kept, all[i])
		}
	}
	return kept
}

// begins tells whether b is a, or goes on after a's last line.
func begins(a, b string) bool {
	return strings.HasPrefix(b, a) && (len(a) == len(b) || len(a) == 0 || b[len(a)] == '\n')
}

// cutLine is the first line of s, without its end, and what follows it.
func cutLine(s string) (line, rest string) {
	i := strings.IndexByte(s, '\n')
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+1:]
}

func trimEnd(line string) string {
	end := len(line)
	for end > 0 && (line[end-1] == ' ' || line[end-1] == '\t' || line[end-1] == '\r') {
		end--
	}
	return line[:end]
}

// trimBlank is text without the blank lines around it, and without the end of
// its last line.
func trimBlank(text string) string {
	for text != "" {
		line, rest := cutLine(text)
		if trimEnd(line) != "" {
			break
		}
		text = rest
	}
	for {
		i := strings.LastIndexByte(text, '\n')
		if trimEnd(text[i+1:]) != "" {
			return text
		}
		if i < 0 {
			return ""
		}
		text = text[:i]
	}
}
