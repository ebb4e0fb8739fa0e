package board

import (
	"strings"
	"testing"
	"time"

	"xfer/spool"
)

// What is canonical already comes back byte for byte, whatever is in it.
func TestFormatKeepsWhatItDoesNotUnderstand(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":        cardText(),
		"prose":          cardText("\n# Plan\n\n  indented  \n\n- a\n- b\n"),
		"foreign keys":   "---\n# comment\nid:   plan\nlabels: [a, b]\nnested:\n  deep: &x 1\n  again: *x\ntitle: 'It''s'\n---\n",
		"entries":        cardText(entryText(id1, "one"), entryText(id2, "two\n\n## Heading\n\nmore")),
		"foreign first":  cardText("\n### e-0001 · note · bob · 2026-01-02\n\ntext\n\n\n### e-0002 · x\n", entryText(id1, "one")),
		"foreign after":  cardText(entryText(id1, "one"), "\n### e-0001 · note · bob\n\ntext\n\n### e-0002 · x\n", entryText(id2, "two")),
		"not ours":       cardText("\n### 01KB9W6T3V8F5S7Q2M4X0C1D91 · note · bob · 2026-11-30T06:33:33Z\n\ntext\n"),
		"time with zone": cardText("\n### " + string(id1) + " · note · Bob Smith · 2026-11-30T07:33:33+01:00\n\ntext\n"),
		"fifth field":    cardText("\n### " + string(id1) + " · note · bob · 2026-11-30T07:33:33Z · more\n\ntext\n"),
		"two versions":   cardText("\nthe one\n\n<!-- also -->\n\nthe other\n"),
		"gone":           cardText(entryText(id2, "two"), "\n<!-- gone: "+string(id1)+" "+string(id3)+" -->\n"),
		"escaped":        cardText(entryText(id1, `\### `+string(id2)+" · note · bob · 2026-11-30T06:33:33Z")),
		"empty entry":    cardText("\n" + strings.TrimSuffix(strings.ReplaceAll(entryHead, "%s", string(id1)), "")),
		"CRLF text":      cardText(entryText(id1, "one\r\ntwo\r")),
	} {
		c, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := string(c.Format()); got != text {
			t.Errorf("%s:\n%q\nbecame\n%q", name, text, got)
		}
	}
}

func TestFormatIsCanonical(t *testing.T) {
	for name, text := range map[string][2]string{
		"order":             {cardText(entryText(id2, "two"), entryText(id1, "one")), cardText(entryText(id1, "one"), entryText(id2, "two"))},
		"blank lines":       {cardText("\n\n\nprose\n\n", entryText(id1, "\n\none\n\n\n")), cardText("\nprose\n", entryText(id1, "one"))},
		"no last newline":   {strings.TrimSuffix(cardText(entryText(id1, "one")), "\n"), cardText(entryText(id1, "one"))},
		"the same twice":    {cardText(entryText(id1, "one"), entryText(id1, "one")), cardText(entryText(id1, "one"))},
		"a text goes on":    {cardText(entryText(id1, "one\n\nmore"), entryText(id1, "one")), cardText(entryText(id1, "one\n\nmore"))},
		"another text":      {cardText(entryText(id1, "oner"), entryText(id1, "one")), cardText(entryText(id1, "one"), entryText(id1, "oner"))},
		"gone wins":         {cardText(entryText(id1, "one"), "<!-- gone: "+string(id1)+" -->\n"), cardText("\n<!-- gone: " + string(id1) + " -->\n")},
		"gone lines":        {cardText("<!-- gone: b -->\nprose\n<!-- gone: a b -->\n"), cardText("\nprose\n\n<!-- gone: a b -->\n")},
		"text after gone":   {cardText(entryText(id1, "one"), "\n<!-- gone: a -->\nmore\n"), cardText(entryText(id1, "one\n\nmore"), "\n<!-- gone: a -->\n")},
		"free text of gone": {cardText(entryText(id1, "one"), "\n### e-1 · x\n", entryText(id2, "two"), "\n<!-- gone: "+string(id1)+" -->\n"), cardText("\n### e-1 · x\n", entryText(id2, "two"), "\n<!-- gone: "+string(id1)+" -->\n")},
		"card gone":         {cardText("\nprose\n", entryText(id1, "one"), "\n<!-- gone: plan -->\n"), cardText(entryText(id1, "one"), "\n<!-- gone: plan -->\n")},
		"CRLF headings":     {strings.ReplaceAll(cardText("\n### "+string(id1)+" · note · bob · 2026-11-30T06:33:33Z  \n\none\n"), "\n\n", "\r\n\r\n"), cardText("\n### " + string(id1) + " · note · bob · 2026-11-30T06:33:33Z\n\none\n")},
	} {
		c, err := Parse([]byte(text[0]))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(c.Format()); got != text[1] {
			t.Errorf("%s: became\n%s\nwant\n%s", name, got, text[1])
		}
	}
}

func TestParseReadsFields(t *testing.T) {
	c := parse(t, "---\nid: plan\ntitle: \"A \\\"plan\\\"\"\ncreated_by: bob\ncreated_at: 2026-11-30T06:33:33+01:00\nid_of_other: x\n---\n"+entryText(id1, "one"))
	if c.ID != "plan" || c.Title != `A "plan"` || c.CreatedBy != "bob" || !c.CreatedAt.Equal(time.Date(2026, 11, 30, 5, 33, 33, 0, time.UTC)) {
		t.Errorf("%+v", c)
	}
	if e := c.Entries[0]; e.ID != id1 || e.Type != "note" || e.Author != "alice" || e.At.IsZero() || e.Text() != "one" {
		t.Errorf("%+v", e)
	}
}

func TestParseNamesWhatIsBroken(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "it does not begin with front matter",
		"# Title\n":                             "it does not begin with front matter",
		"---\nid: plan\n":                       "its front matter has no end",
		"---\ntitle: x\n---\n":                  "its front matter has no id",
		"---\n---\n":                            "its front matter has no keys",
		"---\n- a\n---\n":                       "its front matter has no keys",
		"---\nid: [plan\n---\n":                 "its front matter is not YAML",
		"---\nid: plan\nid: plan\n---\n":        "twice",
		"---\nid: [plan]\n---\n":                `its "id" is not a plain value`,
		"---\nid: ../x\n---\n":                  `its id "../x" is not a name`,
		"---\nid: null\n---\n":                  "its front matter has no id",
		"---\nid: plan\n<<<<<<< ours\n---\n":    "its front matter holds a merge conflict",
		"---\nid: plan\n---\n\xff\n":            "it is not UTF-8",
		"---\nx: " + strings.Repeat("x", 1<<17): "its front matter has more than 65536 bytes",
	} {
		c, err := Parse([]byte(text))
		if err == nil {
			t.Errorf("%.40q: read as %+v", text, c)
			continue
		}
		wantErr(t, err, spool.ErrBrokenCard)
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// An alias that stands for a thousand million values is text to a card.
func TestParseExpandsNoAlias(t *testing.T) {
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		before, now := string(rune('0'+i)), string(rune('1'+i))
		bomb += "a" + now + ": &a" + now + " [" + strings.TrimSuffix(strings.Repeat("*a"+before+",", 10), ",") + "]\n"
	}
	if c := parse(t, "---\nid: plan\n"+bomb+"---\n"); c.ID != "plan" {
		t.Errorf("%+v", c)
	}
}

func TestEscapeIsUndone(t *testing.T) {
	heading := "### " + string(id2) + " · note · bob · 2026-11-30T06:33:33Z"
	for _, text := range []string{
		heading, `\` + heading, `\\` + heading, "  " + heading, "   \\" + heading, "a\n" + heading + "\r\nb",
		"<!-- gone: " + string(id1) + " -->", "<!--gone: x-->", "<!-- also -->", `\<!-- also -->`,
		"### e-0001 · x", "#### a · b", "# plain", "### no mark", `\### no mark`, "<!-- comment -->", "```\n" + heading + "\n```",
	} {
		raw := escape(text)
		if got := unescape(raw); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
		d := note(text)
		d.at = time.Unix(0, 0).UTC()
		c := parse(t, cardText())
		c.Entries = []Entry{newEntry(&d, id1)}
		c = parse(t, string(c.Format()))
		if len(c.Entries) != 1 || c.Entries[0].Text() != text || len(c.free) > 0 || len(c.gone) > 0 {
			t.Errorf("%q was read as %+v", text, c)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(cardText("\nprose\n", entryText(id1, "one"), "\n### e-1 · x\n\n<!-- also -->\n!\n<!-- gone: a -->\n"))
	f.Add(cardText(entryText(id1, "a\n<!-- gone: b -->c")))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse([]byte(text))
		if err != nil {
			return
		}
		once := string(c.Format())
		again, err := Parse([]byte(once))
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, once, err)
		}
		if twice := string(again.Format()); twice != once {
			t.Fatalf("%q is written as\n%q, then as\n%q", text, once, twice)
		}
		if joined := string(Join(c, again).Format()); joined != once {
			t.Fatalf("joined to itself %q is\n%q", once, joined)
		}
	})
}

func FuzzEscape(f *testing.F) {
	f.Add("### a · b\n\\### a · b\n<!-- gone: x -->")
	f.Fuzz(func(t *testing.T, text string) {
		d := note(text)
		if d.Check() != nil {
			return
		}
		c := parse(t, cardText())
		c.Entries = []Entry{newEntry(&d, id1)}
		c = parse(t, string(c.Format()))
		if len(c.Entries) != 1 || c.Entries[0].Text() != trimBlank(text) || len(c.free)+len(c.gone) > 0 {
			t.Fatalf("%q was read as %+v", text, c)
		}
	})
}
