package tool

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// A scanner walks a command line, flags and arguments in any order, up to
// "--".
type scanner struct {
	flags map[string]cli.Flag
	rest  []string // what is still to come; after the end, what followed "--"
	ended bool     // "--" was there

	flag  cli.Flag // nil at an argument
	arg   string
	typed string // the flag as it was typed, without its value
	value string

	err     error
	unknown bool // err is about a flag that there is none of
}

// next steps to the next flag or argument. It returns false at "--", at the
// end and at an error.
func (s *scanner) next() bool {
	s.flag, s.unknown = nil, false
	if s.err != nil || s.ended || len(s.rest) == 0 {
		return false
	}
	s.arg, s.rest = s.rest[0], s.rest[1:]
	if s.arg == "--" {
		s.ended = true
		return false
	}
	if len(s.arg) < 2 || s.arg[0] != '-' {
		return true
	}
	var inline bool
	s.typed, s.value, inline = strings.Cut(s.arg, "=")
	f := s.flags[strings.TrimPrefix(s.typed[1:], "-")]
	switch {
	case f == nil:
		s.err, s.unknown = flagError(s.typed, "no such flag"), true
		return false
	case inline:
	case !takesValue(f):
		s.value = "true"
	case len(s.rest) == 0:
		s.err = flagError(s.typed, "needs a value")
		return false
	default:
		s.value, s.rest = s.rest[0], s.rest[1:]
	}
	s.flag = f
	return true
}

// apart is how an argument is typed that joins a short flag with its value or
// with another flag; empty where it does not.
func (s *scanner) apart() string {
	if len(s.arg) < 3 || s.arg[1] == '-' || s.flags[s.arg[1:2]] == nil {
		return ""
	}
	rest := s.arg[2:]
	if takesValue(s.flags[s.arg[1:2]]) {
		return s.arg[:2] + " " + ShellWord(rest)
	}
	return s.arg[:2] + " -" + ShellWord(rest)
}

// flagIndex finds flags by each of their names; the first of a name counts.
func flagIndex(lists ...[]cli.Flag) map[string]cli.Flag {
	index := make(map[string]cli.Flag)
	for _, list := range lists {
		for _, f := range list {
			for _, name := range names(f) {
				if index[name] == nil {
					index[name] = f
				}
			}
		}
	}
	return index
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return !ok || d.TakesValue()
}

// hasDefault tells whether f has a value where it is not given.
func hasDefault(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return !ok || !slices.Contains([]string{"", "0", "0s", "false"}, d.GetValue())
}

// commonFlags are those of every verb that it reads itself.
func commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "spool", Usage: "the spool is at `DIR`"},
		&cli.StringSliceFlag{Name: "as", Usage: "be `NAME`"},
		&cli.BoolFlag{Name: "json", Usage: "print one JSON object a line"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "say nothing but errors"},
	}
}

// askFlags are those of every verb that run something else instead of it.
func askFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "print this and exit"},
		&cli.BoolFlag{Name: "version", Usage: "print the version and exit"},
	}
}

// AllFlags are the verb's own flags and those of every verb, as its help lists
// them.
func (v *Verb) AllFlags() []cli.Flag { return append(parsedFlags(v), askFlags()...) }

// parsedFlags are the verb's own and the common ones, but for common ones that
// the verb words in its own way.
func parsedFlags(v *Verb) []cli.Flag {
	flags := append([]cli.Flag(nil), v.Flags...)
	for _, f := range commonFlags() {
		if !named(v.Flags, nameOf(f)) {
			flags = append(flags, f)
		}
	}
	return flags
}

func named(flags []cli.Flag, name string) bool {
	for _, f := range flags {
		if slices.Contains(names(f), name) {
			return true
		}
	}
	return false
}

// names are a flag's, the first before its aliases. Flag.Names of urfave/cli
// runs a regular expression over each, which is a tenth of what a one-shot
// program does (bench/RESULTS.md).
func names(f cli.Flag) []string {
	switch f := f.(type) {
	case *cli.StringFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.StringSliceFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.BoolFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.IntFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.DurationFlag:
		return append([]string{f.Name}, f.Aliases...)
	}
	return f.Names()
}

func nameOf(f cli.Flag) string { return names(f)[0] }
