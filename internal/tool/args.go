package tool

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// A line is a command line, taken apart.
type line struct {
	program *Program
	verb    *Verb // nil where none was found
	index   map[string]cli.Flag
	flags   []setting
	args    []string
	command []string

	help, version, json, quiet bool
}

// A setting is one flag as it was typed.
type setting struct {
	flag  cli.Flag
	typed string // "-k", without the value
	value string // in a form that urfave/cli reads
}

// argv is the line as urfave/cli reads it right: it takes whatever follows
// the first argument for an argument, and "--" too.
func (l *line) argv() []string {
	argv := make([]string, 0, len(l.flags)+1+len(l.args))
	for _, s := range l.flags {
		argv = append(argv, "--"+nameOf(s.flag)+"="+s.value)
	}
	argv = append(argv, "--")
	return append(argv, l.args...)
}

// parse takes argv apart. The line is never nil: also where it is wrong it
// says as much as is known of how the error is to be told. Where help was
// asked for, what else is wrong with the line does not count.
func parse(p *Program, argv []string) (*line, error) {
	l := &line{program: p}
	err := l.read(argv)
	if err != nil {
		l.guess(argv)
	}
	return l, err
}

func (l *line) read(argv []string) error {
	at, err := l.findVerb(argv)
	if err != nil {
		return err
	}
	if at >= 0 {
		argv = append(argv[:at:at], argv[at+1:]...)
	}
	if l.help {
		return nil
	}
	if l.verb == nil {
		return WithHint(Usage("no verb given"), l.helpHint())
	}
	s := scanner{flags: l.known(), rest: argv}
	for s.next() {
		if s.flag == nil {
			l.args = append(l.args, s.arg)
		} else if err := l.set(&s); err != nil {
			return l.explain(err, &s)
		}
	}
	if s.err != nil {
		return l.explain(s.err, &s)
	}
	if l.verb.Dashes {
		if l.command = s.rest; s.ended && len(s.rest) == 0 {
			return Usage("nothing after \"--\"")
		}
	} else {
		l.args = append(l.args, s.rest...)
	}
	if l.version {
		return nil
	}
	return l.complete()
}

// known finds the verb's flags by each of their names.
func (l *line) known() map[string]cli.Flag {
	if l.index == nil {
		l.index = flagIndex(parsedFlags(l.verb), askFlags())
	}
	return l.index
}

// relevant are the flags that were typed, and those that mean something where
// they were not: what urfave/cli is told of takes its time for each.
func (l *line) relevant() []cli.Flag {
	var flags []cli.Flag
	for _, f := range parsedFlags(l.verb) {
		if l.has(f) || hasDefault(f) {
			flags = append(flags, f)
		}
	}
	return flags
}

// guess looks for the flags that say how to tell an error, since the line was
// wrong before they were reached.
func (l *line) guess(argv []string) {
	for _, a := range argv {
		switch a {
		case "--":
			return
		case "--json":
			l.json = true
		case "-q", "--quiet":
			l.quiet = true
		}
	}
}

// findVerb sets the verb and returns where in argv it stands, -1 where it is
// the default. Flags may stand before it: whether one takes a value is looked
// up among those of all verbs.
func (l *line) findVerb(argv []string) (int, error) {
	p := l.program
	if len(p.Verbs) == 1 && p.Verbs[0].Name == "" {
		l.verb = p.Verbs[0]
		l.help = asksHelp(l.known(), argv)
		return -1, nil
	}
	var all []cli.Flag
	for _, v := range p.Verbs {
		all = append(all, v.Flags...)
	}
	flags := flagIndex(all, commonFlags(), askFlags())
	l.help = asksHelp(flags, argv)
	s := scanner{flags: flags, rest: argv}
	for s.next() {
		if s.flag != nil {
			continue
		}
		if v := p.verb(s.arg); v != nil && s.arg != "" {
			l.verb = v
			return len(argv) - len(s.rest) - 1, nil
		}
		if l.help {
			return -1, nil
		}
		err := Usage("verb " + strconv.Quote(s.arg) + ": no such verb")
		return -1, WithHint(err, didYouMean(s.arg, p.verbNames(), "", l.helpHint()))
	}
	if s.err != nil && !l.help {
		return -1, l.explain(s.err, &s)
	}
	// Help without a verb is the program's, unless what it does without one
	// has no name to ask by.
	if !l.help || p.Default == "" {
		l.verb = p.verb(p.Default)
	}
	return -1, nil
}

// asksHelp tells whether help is among the flags before "--", past whatever is
// wrong with the line, but not as the value of another flag.
func asksHelp(flags map[string]cli.Flag, argv []string) bool {
	s := scanner{flags: flags, rest: argv}
	for len(s.rest) > 0 {
		if s.next() && s.flag != nil && nameOf(s.flag) == "help" {
			return true
		}
		if s.ended {
			return false
		}
		s.err = nil
	}
	return false
}

// set notes one flag.
func (l *line) set(s *scanner) error {
	value, err := readValue(s.flag, s.typed, s.value)
	if err != nil {
		return err
	}
	on := value != "false"
	switch nameOf(s.flag) {
	case "help":
		return nil // findVerb saw it
	case "version":
		l.version = on
		return nil
	case "json":
		l.json = on
	case "quiet":
		l.quiet = on
	}
	l.flags = append(l.flags, setting{s.flag, s.typed, value})
	return nil
}

// complete checks that what the verb needs was given.
func (l *line) complete() error {
	for _, f := range l.verb.Flags {
		r, ok := f.(cli.RequiredFlag)
		if !ok || !r.IsRequired() || l.has(f) {
			continue
		}
		return WithHint(flagError("--"+nameOf(f), "needs to be given"), flagHint(f))
	}
	usage := "usage: " + l.program.Name + " " + strings.Join(l.verb.Synopsis, ", or ")
	switch n := len(l.args); {
	case n < l.verb.Min:
		return WithHint(Usage(l.verb.prefix()+"too few arguments"), usage)
	case l.verb.Max >= 0 && n > l.verb.Max:
		return WithHint(Usage(l.verb.prefix()+"too many arguments: "+strconv.Quote(l.args[l.verb.Max])), usage)
	}
	return nil
}

func (l *line) has(f cli.Flag) bool {
	for _, s := range l.flags {
		if nameOf(s.flag) == nameOf(f) {
			return true
		}
	}
	return false
}

// explain adds a near name or the way to the help.
func (l *line) explain(err error, s *scanner) error {
	if !s.unknown {
		return err
	}
	var names []string
	for name := range s.flags {
		if len(name) > 1 {
			names = append(names, name)
		}
	}
	hint := l.helpHint()
	if apart := s.apart(); apart != "" {
		hint = "short flags are not joined: " + apart
	}
	return WithHint(err, didYouMean(strings.TrimLeft(s.typed, "-"), names, "--", hint))
}

func (l *line) helpHint() string {
	verb := ""
	if l.verb != nil && l.verb.Name != "" {
		verb = " " + l.verb.Name
	}
	return "'" + l.program.Name + verb + " --help' says more"
}

func (v *Verb) prefix() string {
	if v.Name == "" {
		return ""
	}
	return v.Name + ": "
}

func (p *Program) verb(name string) *Verb {
	for _, v := range p.Verbs {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func (p *Program) verbNames() []string {
	names := make([]string, 0, len(p.Verbs))
	for _, v := range p.Verbs {
		if v.Name != "" {
			names = append(names, v.Name)
		}
	}
	return names
}
