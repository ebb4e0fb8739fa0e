package tool

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

const (
	helpLines   = 40
	helpColumns = 80
)

// help is the text of --help for verb v, or for the whole program where v is
// nil.
func help(p *Program, v *Verb) string {
	if v == nil {
		return programHelp(p)
	}
	var b strings.Builder
	for i, s := range v.Synopsis {
		if i == 0 {
			b.WriteString("usage: ")
		} else {
			b.WriteString("       ")
		}
		b.WriteString(p.Name + " " + s + "\n")
	}
	b.WriteString("\n" + fill(v.About, helpColumns))
	if v.Name == "" && len(p.Verbs) > 1 {
		b.WriteString("\n")
		writeVerbs(&b, p)
	}
	b.WriteString("\n")
	writeFlags(&b, v.AllFlags())
	writeExamples(&b, v.Examples)
	writeStatuses(&b, v.Statuses)
	return b.String()
}

func programHelp(p *Program) string {
	var b strings.Builder
	b.WriteString("usage: " + p.Name + " [VERB] [flags] [arguments]\n" + fill(p.About, helpColumns) + "\n")
	writeVerbs(&b, p)
	b.WriteString("\n")
	writeFlags(&b, append(commonFlags(), askFlags()...))
	var examples []string
	var statuses []int
	for _, v := range p.Verbs {
		if len(examples) < 3 && len(v.Examples) > 0 {
			examples = append(examples, v.Examples[0])
		}
		statuses = append(statuses, v.Statuses...)
	}
	writeExamples(&b, examples)
	writeStatuses(&b, statuses)
	return b.String()
}

func writeVerbs(b *strings.Builder, p *Program) {
	b.WriteString("verbs:\n")
	var rows [][2]string
	for _, v := range p.Verbs {
		if v.Name == "" {
			continue
		}
		says := firstSentence(v.About)
		if v.Name == p.Default {
			says += " (default)"
		}
		rows = append(rows, [2]string{v.Name, says})
	}
	writeColumns(b, rows)
}

func writeFlags(b *strings.Builder, flags []cli.Flag) {
	b.WriteString("flags:\n")
	rows := make([][2]string, 0, len(flags))
	for _, f := range flags {
		rows = append(rows, flagRow(f))
	}
	writeColumns(b, rows)
}

// flagRow is "-k, --kind KIND" and what the flag says of itself; what stands
// there between backquotes names its value.
func flagRow(f cli.Flag) [2]string {
	short, long := "   ", ""
	for _, name := range names(f) {
		if len(name) == 1 {
			short = "-" + name + ","
		} else if long == "" {
			long = " --" + name
		}
	}
	if long == "" {
		short = strings.TrimSuffix(short, ",")
	}
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return [2]string{short + long, ""}
	}
	usage, value := d.GetUsage(), "VALUE"
	if before, rest, ok := strings.Cut(usage, "`"); ok {
		word, after, _ := strings.Cut(rest, "`")
		usage, value = before+word+after, word
	}
	if !d.TakesValue() {
		return [2]string{short + long, usage}
	}
	return [2]string{short + long + " " + value, usage}
}

// flagHint is one flag as a help text shows it.
func flagHint(f cli.Flag) string {
	row := flagRow(f)
	return strings.TrimLeft(row[0], " ") + ": " + row[1]
}

func writeColumns(b *strings.Builder, rows [][2]string) {
	width := 0
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(r[0]))
	}
	for _, r := range rows {
		pad := width - utf8.RuneCountInString(r[0]) + 2
		b.WriteString("  " + r[0] + strings.Repeat(" ", pad) + r[1] + "\n")
	}
}

func writeExamples(b *strings.Builder, examples []string) {
	if len(examples) == 0 {
		return
	}
	b.WriteString("\nexamples:\n")
	for _, e := range examples {
		b.WriteString("  " + e + "\n")
	}
}

// writeStatuses shows those of every verb and the verb's own.
func writeStatuses(b *strings.Builder, own []int) {
	var words []string
	for _, s := range Statuses() {
		if slices.Contains(anyVerb, s.Code) || slices.Contains(own, s.Code) {
			words = append(words, strconv.Itoa(s.Code)+"\u00a0"+strings.ReplaceAll(s.Word, " ", "\u00a0"))
		}
	}
	text := fill("exit status: "+strings.Join(words, ", "), helpColumns)
	b.WriteString("\n" + strings.ReplaceAll(text, "\u00a0", " "))
}

// firstSentence is text up to its first stop, without it.
func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	first, _, _ = strings.Cut(first, "\n")
	return strings.TrimSuffix(first, ".")
}

// fill breaks text at spaces into lines of at most width characters; an empty
// line of it starts a paragraph.
func fill(text string, width int) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		column := 0
		for _, word := range strings.FieldsFunc(paragraph, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }) {
			n := utf8.RuneCountInString(word)
			switch {
			case column == 0:
			case column+1+n > width:
				b.WriteString("\n")
				column = 0
			default:
				b.WriteString(" ")
				column++
			}
			b.WriteString(word)
			column += n
		}
		b.WriteString("\n")
	}
	return b.String()
}
