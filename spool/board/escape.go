package board

import "strings"

// An entry's text must not read as anything but text: a line that looks like a
// heading of an entry, the gone line or the mark between blocks of free text is
// written with a backslash, which Markdown does not show. What is escaped is
// more than what would be read as one of these: up to three spaces before it
// change nothing for whoever looks at the rendered card.

const (
	headingMark = "### "
	fieldMark   = " · "
	goneMark    = "<!-- gone:"
	commentEnd  = "-->"
	alsoLine    = "<!-- also -->"
)

// imitation tells whether line, its indent and backslashes apart, looks like
// a mark of this format; at is where a backslash goes or stands.
func imitation(line string) (at int, backslash bool) {
	for at < 3 && at < len(line) && line[at] == ' ' {
		at++
	}
	rest := strings.TrimLeft(line[at:], `\`)
	backslash = len(rest) < len(line)-at
	if inner, ok := strings.CutPrefix(rest, "<!--"); ok {
		inner = strings.TrimLeft(inner, " \t")
		if strings.HasPrefix(inner, "gone") || strings.HasPrefix(inner, "also") {
			return at, backslash
		}
		return -1, false
	}
	if strings.HasPrefix(rest, "###") && strings.Contains(rest, "·") {
		return at, backslash
	}
	return -1, false
}

// escape makes text fit to stand under a heading.
func escape(text string) string { return eachImitation(text, false) }

// unescape is the inverse of escape.
func unescape(raw string) string { return eachImitation(raw, true) }

func eachImitation(text string, remove bool) string {
	if !strings.Contains(text, "###") && !strings.Contains(text, "<!--") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		at, backslash := imitation(line)
		switch {
		case at < 0, remove && !backslash:
			b.WriteString(line)
		case remove:
			b.WriteString(line[:at])
			b.WriteString(line[at+1:])
		default:
			b.WriteString(line[:at] + `\`)
			b.WriteString(line[at:])
		}
	}
	return b.String()
}
