package board

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"xfer/spool"
)

const histories = 500

// A history is what three hosts do to one card: each has a version, and what
// travels between them is the file.
type history struct {
	t      *testing.T
	r      *rand.Rand
	hosts  [3]*Card
	minted int
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{t: t, r: rand.New(rand.NewPCG(seed, 0))}
	for i := range h.hosts {
		h.hosts[i] = parse(t, cardText("\nprose\n", entryText(id1, "one")))
	}
	return h
}

// flat is c as it comes back from its file.
func (h *history) flat(c *Card) *Card {
	h.t.Helper()
	return parse(h.t, string(c.Format()))
}

func (h *history) step() {
	host := h.r.IntN(3)
	c := h.hosts[host]
	switch h.r.IntN(8) {
	case 0, 1:
		c = h.append(c)
	case 2:
		c = h.handEdit(c)
	case 3:
		c = h.edit(c)
	case 4:
		c = h.remove(c)
	case 5:
		c = h.freeText(c)
	case 6:
		if h.r.IntN(30) == 0 {
			c = c.clone()
			c.gone = append(c.gone, string(c.ID))
			c.normalize()
		}
	case 7:
		c = Join(c, h.hosts[h.r.IntN(3)])
	}
	h.hosts[host] = h.flat(c)
}

func (h *history) id() spool.ID {
	h.minted++
	return spool.ID(fmt.Sprintf("01kb9w6t3v8f5s7q2m4x%06d", h.r.IntN(50)*100+h.minted))
}

func (h *history) append(c *Card) *Card {
	c = c.clone()
	d := note(fmt.Sprintf("text %d", h.r.IntN(4)))
	c.Entries = append(c.Entries, newEntry(&d, h.id()))
	c.normalize()
	return c
}

// handEdit changes a line of the file with an editor that knows nothing.
func (h *history) handEdit(c *Card) *Card {
	lines := strings.SplitAfter(string(c.Format()), "\n")
	body := slices.Index(lines, "---\n") + 1
	body += slices.Index(lines[body:], "---\n") + 1
	at := body + h.r.IntN(len(lines)-body)
	switch h.r.IntN(3) {
	case 0:
		lines = slices.Insert(lines, at, fmt.Sprintf("line %d\n", h.r.IntN(3)))
	case 1:
		lines[at] = fmt.Sprintf("changed %d\n", h.r.IntN(3))
	case 2:
		lines = slices.Insert(lines, at, fmt.Sprintf("### e-%d · x\n", h.r.IntN(3)))
	}
	return parse(h.t, strings.Join(lines, ""))
}

// edit changes the text of an entry, while another host's version has come.
func (h *history) edit(c *Card) *Card {
	if len(c.Entries) == 0 {
		return c
	}
	mine := c.clone()
	mine.Entries[h.r.IntN(len(mine.Entries))].raw = fmt.Sprintf("edited %d", h.r.IntN(3))
	mine.normalize()
	next, _ := mergeEdit(c, mine, Join(c, h.hosts[h.r.IntN(3)]))
	return next
}

func (h *history) remove(c *Card) *Card {
	if len(c.Entries) == 0 {
		return c
	}
	mine := c.clone()
	at := h.r.IntN(len(mine.Entries))
	mine.Entries = slices.Delete(mine.Entries, at, at+1)
	next, _ := mergeEdit(c, mine, c)
	return next
}

func (h *history) freeText(c *Card) *Card {
	c = c.clone()
	b := block{text: fmt.Sprintf("free %d\n\n### e-%d · y", h.r.IntN(3), h.r.IntN(3))}
	if n := len(c.Entries); n > 0 && h.r.IntN(2) == 0 {
		b.under = c.Entries[h.r.IntN(n)].ID
	}
	c.free = append(c.free, b)
	c.dropDoubles()
	c.normalize()
	return c
}

// lost is what of a, whole, is not in c though nobody removed it.
func lost(a, c *Card) string {
	for _, e := range a.Entries {
		if !c.isGone(string(e.ID)) && !slices.ContainsFunc(c.versions(e.ID), func(f Entry) bool { return f.heading == e.heading && begins(e.raw, f.raw) }) {
			return fmt.Sprintf("entry %+v", e)
		}
	}
	for _, f := range a.free {
		if !c.isGone(string(c.ID)) && !slices.ContainsFunc(c.free, func(g block) bool { return begins(f.text, g.text) }) {
			return fmt.Sprintf("free text %+v", f)
		}
	}
	for _, id := range a.gone {
		if !c.isGone(id) {
			return "gone " + id
		}
	}
	return ""
}

func TestJoinIsAJoin(t *testing.T) {
	for seed := range uint64(histories) {
		h := newHistory(t, seed)
		for range 3 + h.r.IntN(30) {
			h.step()
		}
		a, b, c := h.hosts[0], h.hosts[1], h.hosts[2]
		want := h.flat(Join(a, b, c))
		text := string(want.Format())
		for name, got := range map[string]*Card{
			"other order":  Join(c, a, b),
			"right first":  Join(a, h.flat(Join(b, c))),
			"left first":   Join(h.flat(Join(a, b)), c),
			"outer first":  Join(h.flat(Join(c, a)), b),
			"itself again": Join(want, want),
			"old versions": Join(want, b, a),
			"joined twice": Join(h.flat(Join(a, b)), h.flat(Join(b, c))),
		} {
			if string(got.Format()) != text || string(h.flat(got).Format()) != text {
				t.Fatalf("seed %d: %s:\n%s\nwant\n%s", seed, name, got.Format(), text)
			}
		}
		for _, v := range h.hosts {
			if gone := lost(v, want); gone != "" {
				t.Fatalf("seed %d: lost %s from\n%s\nin\n%s", seed, gone, v.Format(), text)
			}
		}
	}
}

// The histories hold what the properties are about.
func TestHistoriesAreVaried(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(histories) {
		h := newHistory(t, seed)
		for range 30 {
			h.step()
		}
		for _, c := range h.hosts {
			for i := range c.Entries {
				if i > 0 && c.Entries[i-1].ID == c.Entries[i].ID {
					seen["two texts"]++
				}
			}
			for _, f := range c.free {
				if f.under != "" {
					seen["free text under an entry"]++
				}
			}
			if len(c.free) > 1 {
				seen["two blocks"]++
			}
			if len(c.gone) > 1 {
				seen["removed entries"]++
			}
			if c.isGone("plan") {
				seen["removed card"]++
			}
		}
	}
	for _, what := range []string{"two texts", "free text under an entry", "two blocks", "removed entries", "removed card"} {
		if seen[what] < 30 {
			t.Errorf("%s: %d times", what, seen[what])
		}
	}
}

func TestJoinChoosesFrontMatter(t *testing.T) {
	early := parse(t, strings.Replace(cardText(), "2026-11-30", "2026-11-29", 1))
	named := parse(t, strings.Replace(cardText(), "The plan", "A plan", 1))
	plain := parse(t, cardText())
	timeless := parse(t, "---\nid: plan\n---\n")
	for name, c := range map[string]struct {
		a, b *Card
		want *Card
	}{
		"the earlier":            {plain, early, early},
		"the lesser bytes":       {plain, named, named},
		"one with a time":        {timeless, plain, plain},
		"earlier before lesser":  {named, early, early},
		"the same, against same": {plain, plain, plain},
	} {
		for _, got := range []*Card{Join(c.a, c.b), Join(c.b, c.a)} {
			if got.front != c.want.front || got.Title != c.want.Title {
				t.Errorf("%s: %q", name, got.front)
			}
		}
	}
}

func TestMergeEdit(t *testing.T) {
	base := cardText("\nprose\n", entryText(id1, "one"), entryText(id2, "two"))
	withThree := base + entryText(id3, "three")
	for _, c := range []struct {
		name, mine, theirs, want string
		notes, lost              int
	}{
		{"an append meanwhile", strings.Replace(base, "two", "2", 1), withThree, strings.Replace(withThree, "two", "2", 1), 0, 0},
		{"a shorter text", strings.Replace(base, "prose\n", "pro\n", 1), withThree, strings.Replace(withThree, "prose\n", "pro\n", 1), 0, 0},
		{"a text cut at a line", cardText("\nprose\n", entryText(id1, "one")), strings.Replace(base, "two", "two\n\nmore", 1),
			strings.Replace(base, "two", "two\n\nmore", 1), 1, 0},
		{"an entry removed", cardText("\nprose\n", entryText(id1, "one")), withThree,
			cardText("\nprose\n", entryText(id1, "one"), entryText(id3, "three"), "\n<!-- gone: "+string(id2)+" -->\n"), 0, 0},
		{"both changed a text", strings.Replace(base, "two", "mine", 1), strings.Replace(base, "two", "theirs", 1),
			strings.Replace(base, entryText(id2, "two"), entryText(id2, "mine")+entryText(id2, "theirs"), 1), 1, 0},
		{"both changed it alike", strings.Replace(base, "two", "2", 1), strings.Replace(base, "two", "2", 1), strings.Replace(base, "two", "2", 1), 0, 0},
		{"both changed free text", strings.Replace(base, "prose", "mine", 1), strings.Replace(base, "prose", "theirs", 1),
			strings.Replace(base, "prose", "mine\n\n<!-- also -->\n\ntheirs", 1), 1, 0},
		{"the title", strings.Replace(base, "The plan", "My plan", 1), withThree, strings.Replace(withThree, "The plan", "My plan", 1), 0, 0},
		{"both changed the title", strings.Replace(base, "The plan", "My plan", 1), strings.Replace(base, "The plan", "Their plan", 1),
			strings.Replace(base, "The plan", "Their plan", 1), 0, 1},
		{"a text of an entry that was removed", strings.Replace(base, "two", "2", 1),
			cardText("\nprose\n", entryText(id1, "one"), "\n<!-- gone: "+string(id2)+" -->\n"),
			cardText("\nprose\n", entryText(id1, "one"), "\n<!-- gone: "+string(id2)+" -->\n"), 0, 1},
		{"what they deleted stays deleted", strings.Replace(base, "two", "2", 1), strings.Replace(base, "\nprose\n", "", 1),
			cardText(entryText(id1, "one"), entryText(id2, "2")), 0, 0},
		{"nothing", base, withThree, withThree, 0, 0},
	} {
		got, m := mergeEdit(parse(t, base), parse(t, c.mine), parse(t, c.theirs))
		if string(got.Format()) != c.want || len(m.notes) != c.notes || len(m.lost) != c.lost {
			t.Errorf("%s: notes %q, lost %q\n%s\nwant\n%s", c.name, m.notes, m.lost, got.Format(), c.want)
		}
	}
}
