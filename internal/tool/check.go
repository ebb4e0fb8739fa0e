package tool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// Check says everything that is wrong with the way p describes itself: a test
// of each program calls it, so that what --help prints is complete and fits.
// Nil where nothing is.
func (p *Program) Check() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf(p.Name+": "+format, args...))
	}
	if p.verb(p.Default) == nil {
		fault("no verb %q to stand in", p.Default)
	}
	seen := make(map[string]bool)
	takes := make(map[string]bool)
	for _, v := range p.Verbs {
		if seen[v.Name] {
			fault("verb %q: twice", v.Name)
		}
		seen[v.Name] = true
		checkVerb(p, v, fault)
		checkFlags(v, takes, fault)
	}
	if len(p.Verbs) > 1 {
		checkSize("the program's help", help(p, nil), fault)
	}
	return errors.Join(faults...)
}

func checkVerb(p *Program, v *Verb, fault func(string, ...any)) {
	if len(v.Synopsis) == 0 {
		fault("verb %q: no synopsis", v.Name)
	}
	for _, s := range v.Synopsis {
		if first, _, _ := strings.Cut(s, " "); v.Name != "" && first != v.Name {
			fault("verb %q: synopsis %q begins with another word", v.Name, s)
		}
	}
	if v.About == "" {
		fault("verb %q: says nothing about itself", v.Name)
	}
	if len(v.Examples) != 3 {
		fault("verb %q: %d examples, not three", v.Name, len(v.Examples))
	}
	for _, e := range v.Examples {
		if !strings.Contains(e, p.Name) {
			fault("verb %q: example %q does not run %s", v.Name, e, p.Name)
		}
	}
	for _, code := range v.Statuses {
		if !slices.ContainsFunc(Statuses(), func(s Status) bool { return s.Code == code }) {
			fault("verb %q: status %d is in no table", v.Name, code)
		}
	}
	checkSize(fmt.Sprintf("help of verb %q", v.Name), help(p, v), fault)
}

// checkFlags also finds a flag that takes a value in one verb and none in
// another: before the verb it could not be read.
func checkFlags(v *Verb, takes map[string]bool, fault func(string, ...any)) {
	own := make(map[string]bool)
	for _, f := range v.AllFlags() {
		d, ok := f.(cli.DocGenerationFlag)
		if !ok || d.GetUsage() == "" {
			fault("verb %q: flag %q: no usage", v.Name, nameOf(f))
		}
		for _, name := range names(f) {
			if own[name] {
				fault("verb %q: flag %q: twice", v.Name, name)
			}
			own[name] = true
			if t, ok := takes[name]; ok && t != takesValue(f) {
				fault("flag %q: takes a value in one verb and none in another", name)
			}
			takes[name] = takesValue(f)
		}
	}
}

func checkSize(what, text string, fault func(string, ...any)) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > helpLines {
		fault("%s: %d lines, at most %d", what, len(lines), helpLines)
	}
	for _, l := range lines {
		if n := utf8.RuneCountInString(l); n > helpColumns {
			fault("%s: %d columns, at most %d: %q", what, n, helpColumns, l)
		}
	}
}
