package command_test

import (
	"cmp"
	"os"
	"regexp"
	"strings"
	"testing"

	"xfer/internal/tool"
)

// Subsections of a program with verbs that describe no verb.
const (
	everyVerb = "Flags of every verb"
	noVerb    = "Without a verb"
	filters   = "Filters"
)

// A page is a page of the manual in its source form, mdoc(7).
type page struct{ lines []string }

func readPage(t *testing.T, name string) page { return page{readLines(t, top("man", name))} }

func readLines(t *testing.T, path string) []string {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(b), "\n")
}

// section is what stands below a heading, up to the next.
func (p page) section(heading string) []string {
	var lines []string
	inside := false
	for _, line := range p.lines {
		if h, ok := headingOf(line); ok {
			inside = h == heading
		} else if inside {
			lines = append(lines, line)
		}
	}
	return lines
}

// headings are those of the subsections.
func (p page) headings() []string {
	var all []string
	for _, line := range p.lines {
		if h, ok := strings.CutPrefix(line, ".Ss "); ok {
			all = append(all, h)
		}
	}
	return all
}

func headingOf(line string) (string, bool) {
	if h, ok := strings.CutPrefix(line, ".Ss "); ok {
		return h, true
	}
	return strings.CutPrefix(line, ".Sh ")
}

// synopsis is the verbs that the synopsis begins a line with.
func (p page) synopsis() []string {
	var verbs []string
	lines := p.section("SYNOPSIS")
	for i, line := range lines {
		if line != ".Nm" || i+1 == len(lines) {
			continue
		}
		if _, verb, found := strings.Cut(lines[i+1], "Cm "); found {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// flagsOf is every flag that the page describes for a verb of its program.
func (p page) flagsOf(program *tool.Program, v *tool.Verb) []string {
	if len(program.Verbs) == 1 {
		return flagsIn(p.lines)
	}
	own := p.section(cmp.Or(v.Name, noVerb))
	all := append(flagsIn(own), flagsIn(p.section(everyVerb))...)
	for _, line := range own {
		if strings.HasPrefix(line, ".Sx "+filters) {
			return append(all, flagsIn(p.section(filters))...)
		}
	}
	return all
}

var flagItem = regexp.MustCompile(`^\.It Fl (.+?)(?: Ar (\S+))?$`)

// flagsIn are the flags that have an entry in a list.
func flagsIn(lines []string) []string {
	var all []string
	for _, line := range lines {
		m := flagItem.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		names := strings.Split(m[1], " , ")
		for i := range names {
			names[i] = "-" + names[i]
		}
		text := strings.Join(names, ", ")
		if m[2] != "" {
			text += " " + m[2]
		}
		all = append(all, text)
	}
	return all
}
