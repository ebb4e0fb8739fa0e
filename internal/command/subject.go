package command

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// subjectSource is how much of a body is looked at for a subject.
const subjectSource = 64 << 10

const maxSubject = 120 // characters, of a subject made from a body

// subjectOf is the first heading in the beginning of a body, else its first
// line; empty where it has none.
func subjectOf(beginning []byte) string {
	first, fenced := "", false
	for line := range strings.Lines(string(beginning)) {
		line = OneLine(line)
		switch {
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fenced = !fenced
		case !fenced && heading(line) != "":
			return Cut(heading(line))
		}
		if first == "" && !strings.HasPrefix(line, "```") && line != "---" {
			first = line
		}
	}
	return Cut(first)
}

// heading is the text of an ATX heading (CommonMark 0.31, section 4.2).
func heading(line string) string {
	text := strings.TrimLeft(line, "#")
	if level := len(line) - len(text); level < 1 || level > 6 || !strings.HasPrefix(text, " ") {
		return ""
	}
	return strings.TrimSpace(strings.TrimRight(text, "#"))
}

// OneLine is a line as a header can hold it.
func OneLine(line string) string {
	line = strings.ToValidUTF8(line, "\uFFFD")
	line = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, line)
	return strings.TrimSpace(line)
}

// Cut is s, shortened to what a subject may have.
func Cut(s string) string {
	if utf8.RuneCountInString(s) <= maxSubject {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:maxSubject-1])) + "…"
}

// textType is what a body is where nothing else is said.
const textType = "text/markdown; charset=utf-8"

// typeOf is the MIME type of a body that begins like this, where the sender
// says none.
func typeOf(beginning []byte) string {
	for len(beginning) > 0 { // the last character may have been cut
		r, size := utf8.DecodeRune(beginning)
		if r == 0 || r == utf8.RuneError && size == 1 && utf8.FullRune(beginning) {
			return "application/octet-stream"
		}
		beginning = beginning[size:]
	}
	return textType
}

// sniff looks at the beginning of a body for its type; what it returns reads
// the whole of it. The error is the body's own.
func sniff(body io.Reader) (whole io.Reader, mime string, err error) {
	r := bufio.NewReaderSize(body, subjectSource)
	beginning, err := r.Peek(subjectSource)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	return r, typeOf(beginning), nil
}

// Quoted is s as messages show a word of the user's or a peer's.
func Quoted(s string) string { return strconv.Quote(s) }
