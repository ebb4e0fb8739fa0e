package tool

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

const takeHelp = `usage: xfer-many take [flags] [ID]

Do take. It does not block.

flags:
      --wait DURATION  wait for DURATION
      --spool DIR      the spool is at DIR
      --as NAME        be NAME
      --json           print one JSON object a line
  -q, --quiet          say nothing but errors
  -h, --help           print this and exit
      --version        print the version and exit

examples:
  xfer-many take
  xfer-many take x
  xfer-many -q take

exit status: 0 done, 1 nothing found, 64 usage, 74 input/output, 77 permission,
78 configuration
`

const manyHelp = `usage: xfer-many [VERB] [flags] [arguments]
Do many things

verbs:
  list     Do list (default)
  take     Do take
  release  Do release
  need     Do need

flags:
      --spool DIR  the spool is at DIR
      --as NAME    be NAME
      --json       print one JSON object a line
  -q, --quiet      say nothing but errors
  -h, --help       print this and exit
      --version    print the version and exit

examples:
  xfer-many list
  xfer-many take
  xfer-many release

exit status: 0 done, 1 nothing found, 64 usage, 74 input/output, 77 permission,
78 configuration
`

func TestHelp(t *testing.T) {
	p := several(func(string, *Call) error { t.Error("ran"); return nil })
	for args, want := range map[string]string{
		"take --help":                 takeHelp,
		"take -h":                     takeHelp,
		"--help take":                 takeHelp,
		"take x --nope --help":        takeHelp,
		"take a b c --wait -h --help": takeHelp,
		"-h":                          manyHelp,
		"--help":                      manyHelp,
		"--help bob":                  manyHelp, "--as x --help -q": manyHelp,
	} {
		equal(t, args, runProgram(t, p, strings.Fields(args)...), run{0, want, ""})
	}
}

func TestHelpWithoutVerbs(t *testing.T) {
	p := single(func(*Call) error { t.Error("ran"); return nil })
	got := runProgram(t, p, "bob", "--help", "eve")
	equal(t, "status", got.status, 0)
	equal(t, "usage", strings.HasPrefix(got.stdout, "usage: xfer-one [flags] PEER...\n\nDo one thing. It never blocks.\n\nflags:\n  -k, --kind KIND"), true)
	p.Verbs[0].Dashes, p.Verbs[0].Run = true, func(*Call) error { return nil }
	equal(t, "the command's own", runProgram(t, p, "--", "cat", "--help").stdout, "")
}

func TestHelpOfVerblessVerbBesideOthers(t *testing.T) {
	p := several(func(string, *Call) error { return nil })
	p.Verbs[0].Name, p.Verbs[0].Synopsis[0], p.Default = "", "[flags]", ""
	got := runProgram(t, p, "--help").stdout
	for _, want := range []string{"usage: xfer-many [flags]\n", "      --from NAME", "verbs:\n  take     Do take\n"} {
		equal(t, want, strings.Contains(got, want), true)
	}
}

func TestVersion(t *testing.T) {
	p := several(func(string, *Call) error { t.Error("ran"); return nil })
	for _, args := range []string{"--version", "take --version", "--version release"} {
		equal(t, args, runProgram(t, p, strings.Fields(args)...), run{0, "xfer-many devel\n", ""})
	}
}

func TestFill(t *testing.T) {
	equal(t, "filled", fill("aa bb cc dd\nee\n\nff", 5), "aa bb\ncc dd\nee\n\nff\n")
}

func TestCheck(t *testing.T) {
	good := several(nil)
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*Program){
		`no verb "x" to stand in`:                     func(p *Program) { p.Default = "x" },
		`verb "list": twice`:                          func(p *Program) { p.Verbs[1].Name = "list" },
		`verb "take": no synopsis`:                    func(p *Program) { p.Verbs[1].Synopsis = nil },
		`synopsis "tak" begins with another word`:     func(p *Program) { p.Verbs[1].Synopsis[0] = "tak" },
		`verb "take": says nothing about itself`:      func(p *Program) { p.Verbs[1].About = "" },
		`verb "take": 0 examples, not three`:          func(p *Program) { p.Verbs[1].Examples = nil },
		`example "ls" does not run xfer-many`:         func(p *Program) { p.Verbs[1].Examples[2] = "ls" },
		`verb "take": status 3 is in no table`:        func(p *Program) { p.Verbs[1].Statuses = []int{3} },
		`verb "take": flag "wait": no usage`:          func(p *Program) { p.Verbs[1].Flags[0].(*cli.DurationFlag).Usage = "" },
		`flag "wait": takes a value in one verb`:      func(p *Program) { p.Verbs[2].Flags = []cli.Flag{&cli.BoolFlag{Name: "wait", Usage: "x"}} },
		`verb "take": flag "q": twice`:                func(p *Program) { p.Verbs[1].Flags = []cli.Flag{&cli.BoolFlag{Name: "q", Usage: "x"}} },
		`help of verb "take": 58 lines, at most 40`:   func(p *Program) { p.Verbs[1].About = strings.Repeat("x\n\n", 20) },
		`help of verb "take": 92 columns, at most 80`: func(p *Program) { p.Verbs[1].Examples[0] = "xfer-many " + strings.Repeat("x", 80) },
		`the program's help: 91 columns, at most 80`:  func(p *Program) { p.Verbs[1].About = strings.Repeat("x ", 40) },
	} {
		p := several(nil)
		spoil(p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}
