package board

import (
	"strings"

	"xfer/spool"
)

// A Block is what a fenced board-entry block in a longer text asks for.
type Block struct {
	Type  spool.Label // empty where it says none
	Card  CardID      // likewise
	Title string      // of the card, where it is to be made; likewise
	Text  string
}

const blockWord = "board-entry"

// Blocks are the board-entry blocks of text, in their order: fenced code as
// CommonMark 0.31 has it, whose info string begins with that word, and not
// inside other fenced code. Its first lines may be "type:", "card:" and
// "title:". The errors are spool.ErrNoBlock, where one is not closed too, and those of
// what the lines say.
func Blocks(text string) ([]Block, error) {
	var all []Block
	var open *codeFence
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if open == nil {
			open, lines = parseFence(line), nil
			continue
		}
		if !open.closedBy(line) {
			lines = append(lines, open.inside(line))
			continue
		}
		if open.isBlock() {
			b, err := parseBlock(lines)
			if err != nil {
				return nil, err
			}
			all = append(all, b)
		}
		open = nil
	}
	switch {
	case open != nil && open.isBlock():
		return nil, spool.Because(spool.ErrNoBlock, "a "+blockWord+" block has no end")
	case len(all) == 0:
		return nil, spool.Because(spool.ErrNoBlock, "it has no "+blockWord+" block")
	}
	return all, nil
}

// A codeFence is the line that opens fenced code.
type codeFence struct {
	indent int
	mark   string // three backquotes or tildes, or more
	info   string
}

const fenceMin = 3

func parseFence(line string) *codeFence {
	f := &codeFence{}
	rest := strings.TrimLeft(line, " ")
	if f.indent = len(line) - len(rest); f.indent > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return nil
	}
	f.info = strings.TrimLeft(rest, rest[:1])
	f.mark = rest[:len(rest)-len(f.info)]
	if len(f.mark) < fenceMin || f.mark[0] == '`' && strings.Contains(f.info, "`") {
		return nil
	}
	return f
}

func (f *codeFence) closedBy(line string) bool {
	g := parseFence(line)
	return g != nil && strings.HasPrefix(g.mark, f.mark) && strings.TrimSpace(g.info) == ""
}

func (f *codeFence) isBlock() bool {
	words := strings.Fields(f.info)
	return len(words) > 0 && words[0] == blockWord
}

// inside is a line of the code, without the indent that the fence had.
func (f *codeFence) inside(line string) string {
	n := 0
	for n < f.indent && n < len(line) && line[n] == ' ' {
		n++
	}
	return line[n:]
}

func parseBlock(lines []string) (b Block, err error) {
	for len(lines) > 0 {
		key, value, ok := strings.Cut(lines[0], ":")
		value = strings.TrimSpace(value)
		switch {
		case !ok:
		case key == "type":
			b.Type, err = spool.ParseLabel(value)
		case key == "card":
			b.Card, err = ParseCardID(value)
		case key == "title":
			b.Title, err = ParseTitle(value)
		default:
			ok = false
		}
		if err != nil {
			return b, err
		}
		if !ok {
			break
		}
		lines = lines[1:]
	}
	b.Text = trimBlank(strings.Join(lines, "\n"))
	if b.Text == "" {
		return b, spool.Because(spool.ErrNoBlock, "a "+blockWord+" block has no text")
	}
	return b, nil
}
