package tool

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"xfer/spool"
)

// A run is one call of a program in this process.
type run struct {
	status         int
	stdout, stderr string
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// process has files for its streams, an empty standard input and environment,
// and a clock that stands still.
func process(t *testing.T, args ...string) *Process {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) *os.File {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	sys := spool.NewSystem()
	sys.Now = func() time.Time { return noon }
	sys.Env = func(string) string { return "" }
	return &Process{
		Args:   append([]string{"program"}, args...),
		Stdin:  file("stdin"),
		Stdout: file("stdout"),
		Stderr: file("stderr"),
		System: sys,
	}
}

func content(t *testing.T, f *os.File) string {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func runIn(t *testing.T, p *Program, pr *Process) run {
	t.Helper()
	status := Run(p, pr)
	return run{status, content(t, pr.Stdout), content(t, pr.Stderr)}
}

func runProgram(t *testing.T, p *Program, args ...string) run {
	t.Helper()
	return runIn(t, p, process(t, args...))
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %#v\nwant %#v", what, got, want)
	}
}

// single is a program without verbs.
func single(act func(*Call) error) *Program {
	return &Program{Name: "xfer-one", About: "does one thing", Verbs: []*Verb{{
		Synopsis: []string{"[flags] PEER..."},
		About:    "Do one thing. It never blocks.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "the `KIND`"},
			&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "read `FILE`"},
			&cli.StringSliceFlag{Name: "label", Usage: "a `LABEL` (repeatable)"},
			&cli.DurationFlag{Name: "wait", Usage: "wait for `DURATION`"},
			&cli.IntFlag{Name: "limit", Usage: "at most `N`"},
			&cli.StringFlag{Name: "since", Usage: "since `TIME`"},
			&cli.BoolFlag{Name: "force", Usage: "do it"},
		},
		Max:      -1,
		Examples: []string{"xfer-one a", "xfer-one b", "xfer-one c"},
		Run:      act,
	}}}
}

// several is a program with verbs; each prints its name through act.
func several(act func(verb string, c *Call) error) *Program {
	verb := func(name string, least, most int, flags ...cli.Flag) *Verb {
		return &Verb{
			Name: name, Synopsis: []string{name + " [flags] [ID]"}, About: "Do " + name + ". It does not block.",
			Flags: flags, Min: least, Max: most,
			Examples: []string{"xfer-many " + name, "xfer-many " + name + " x", "xfer-many -q " + name},
			Statuses: []int{1},
			Run:      func(c *Call) error { return act(name, c) },
		}
	}
	return &Program{Name: "xfer-many", About: "Do many things", Default: "list", Verbs: []*Verb{
		verb("list", 0, 0, &cli.StringFlag{Name: "from", Usage: "from `NAME`"}),
		verb("take", 0, 1, &cli.DurationFlag{Name: "wait", Usage: "wait for `DURATION`"}),
		verb("release", 1, 1),
		verb("need", 0, 0, &cli.StringFlag{Name: "kind", Required: true, Usage: "task or notification as `KIND`"}),
	}}
}
