package tool

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// seen is what a verb gets to see of its command line.
func seen(verb string, c *Call) string {
	return fmt.Sprintf("%s args=%q command=%q kind=%q file=%q label=%q wait=%s limit=%d force=%t as=%q json=%t quiet=%t",
		verb, c.Arguments, c.Command, c.String("kind"), c.String("file"), c.StringSlice("label"), c.Duration("wait"),
		c.Int("limit"), c.Bool("force"), c.StringSlice("as"), c.Bool("json"), c.Bool("quiet"))
}

const nothingElse = ` file="" label=[] wait=0s limit=0 force=false as=[] json=false quiet=false`

func TestFlagsStandAnywhere(t *testing.T) {
	for _, args := range [][]string{
		{"-k", "task", "bob", "eve"},
		{"bob", "-k", "task", "eve"},
		{"bob", "eve", "--kind", "task"},
		{"bob", "--kind=task", "--", "eve"},
		{"-k=task", "--", "bob", "eve"},
		{"-kind", "task", "bob", "eve"},
	} {
		var got string
		r := runProgram(t, single(func(c *Call) error { got = seen("", c); return nil }), args...)
		equal(t, strings.Join(args, " "), got, ` args=["bob" "eve"] command=[] kind="task"`+nothingElse)
		equal(t, "run", r, run{})
	}
}

func TestValuesArriveAsTyped(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"- -f -", ` args=["-"] command=[] kind="" file="-" label=[] wait=0s limit=0 force=false as=[] json=false quiet=false`},
		{"--label a,b --label=-x --label --", ` args=[] command=[] kind="" file="" label=["a,b" "-x" "--"] wait=0s limit=0 force=false as=[] json=false quiet=false`},
		{"--wait 1d2h --limit -5", ` args=[] command=[] kind="" file="" label=[] wait=26h0m0s limit=-5 force=false as=[] json=false quiet=false`},
		{"--limit 010 --wait 90", ` args=[] command=[] kind="" file="" label=[] wait=1m30s limit=10 force=false as=[] json=false quiet=false`},
		{"--as a --force x --as b --json", ` args=["x"] command=[] kind="" file="" label=[] wait=0s limit=0 force=true as=["a" "b"] json=true quiet=false`},
		{"--force=false -q --kind a=b=c", ` args=[] command=[] kind="a=b=c" file="" label=[] wait=0s limit=0 force=false as=[] json=false quiet=true`},
		{"-- --force -- kind help", ` args=["--force" "--" "kind" "help"] command=[] kind=""` + nothingElse},
		{"-k kind kind help h", ` args=["kind" "help" "h"] command=[] kind="kind"` + nothingElse},
		{"-k --json", ` args=[] command=[] kind="--json"` + nothingElse},
		{"-k --help", ` args=[] command=[] kind="--help"` + nothingElse},
	} {
		var got string
		r := runProgram(t, single(func(c *Call) error { got = seen("", c); return nil }), strings.Fields(c.args)...)
		equal(t, c.args, got, c.want)
		equal(t, c.args, r, run{})
	}
}

func TestCommandAfterDashes(t *testing.T) {
	var got string
	p := single(func(c *Call) error { got = seen("", c); return nil })
	p.Verbs[0].Dashes = true
	runProgram(t, p, "a", "--force", "--", "cat", "--json", "--", "-k")
	equal(t, "seen", got, ` args=["a"] command=["cat" "--json" "--" "-k"] kind="" file="" label=[] wait=0s limit=0 force=true as=[] json=false quiet=false`)
}

func TestVerbs(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", `list args=[]`},
		{"--as bob", `list args=[]`},
		{"take", `take args=[]`},
		{"take x", `take args=["x"]`},
		{"--wait 5 take x", `take args=["x"]`},
		{"--as take take x", `take args=["x"]`},
		{"-q --json take --wait=5 -- x", `take args=["x"]`},
		{"take take", `take args=["take"]`},
		{"release list", `release args=["list"]`},
	} {
		var got string
		r := runProgram(t, several(func(verb string, c *Call) error {
			got = fmt.Sprintf("%s args=%q", verb, c.Arguments)
			return nil
		}), strings.Fields(c.args)...)
		equal(t, c.args, got, c.want)
		equal(t, c.args, r, run{})
	}
}

func TestVerblessVerbBesideOthers(t *testing.T) {
	var got string
	p := several(func(verb string, c *Call) error { got = "verb " + verb; return nil })
	p.Verbs[0].Name, p.Default = "", ""
	equal(t, "run", runProgram(t, p), run{})
	equal(t, "seen", got, "verb list")
	equal(t, "unknown", runProgram(t, p, "lost").stderr, "xfer-many: verb \"lost\": no such verb\nxfer-many: hint: 'xfer-many --help' says more\n")
}

func TestUsageErrors(t *testing.T) {
	one := single(func(*Call) error { return errors.New("ran") })
	one.Verbs[0].Flags = append(one.Verbs[0].Flags,
		&cli.UintFlag{Name: "jobs", Usage: "`N` at once"},
		&cli.GenericFlag{Name: "even", Usage: "an even `N`", Value: new(even)})
	many := several(func(string, *Call) error { return errors.New("ran") })
	for _, c := range []struct {
		p    *Program
		args []string
		want string
	}{
		{one, []string{"--nope"}, `flag "--nope": no such flag; 'xfer-one --help' says more`},
		{one, []string{"--nope=x"}, `flag "--nope": no such flag; 'xfer-one --help' says more`},
		{one, []string{"-rf"}, `flag "-rf": no such flag; 'xfer-one --help' says more`},
		{one, []string{"bob", "-ktask"}, `flag "-ktask": no such flag; short flags are not joined: -k task`},
		{one, []string{"-ka task"}, `flag "-ka task": no such flag; short flags are not joined: -k 'a task'`},
		{one, []string{"-qk", "task"}, `flag "-qk": no such flag; short flags are not joined: -q -k`},
		{one, []string{"---kind"}, `flag "---kind": no such flag; did you mean "--kind"? 'xfer-one --help' says more`},
		{one, []string{"--=x"}, `flag "--": no such flag; 'xfer-one --help' says more`},
		{one, []string{"bob", "--knid", "x"}, `flag "--knid": no such flag; did you mean "--kind"? 'xfer-one --help' says more`},
		{one, []string{"--\x1b[2J"}, `flag "--\x1b[2J": no such flag; 'xfer-one --help' says more`},
		{one, []string{"--generate-bash-completion"}, `flag "--generate-bash-completion": no such flag; 'xfer-one --help' says more`},
		{one, []string{"-v"}, `flag "-v": no such flag; 'xfer-one --help' says more`},
		{one, []string{"bob", "--kind"}, `flag "--kind": needs a value`},
		{one, []string{"-k"}, `flag "-k": needs a value`},
		{one, []string{"--limit", "x"}, `flag "--limit": "x" is not a whole number`},
		{one, []string{"--limit=99999999999999999999"}, `flag "--limit": "99999999999999999999" is out of range`},
		{one, []string{"--jobs", "-1"}, `flag "--jobs": "-1" is not a whole number`},
		{one, []string{"--force=maybe"}, `flag "--force": "maybe" is neither true nor false`},
		{one, []string{"--wait", "soon"}, `flag "--wait": "soon" is not a duration; such as 90, 1m30s, 12h or 30d`},
		{one, []string{"--wait=-5"}, `flag "--wait": "-5" is negative; such as 90, 1m30s, 12h or 30d`},
		{one, []string{"--even=3"}, `flag "--even": "3": odd`},
		{many, []string{"tkae"}, `verb "tkae": no such verb; did you mean "take"? 'xfer-many --help' says more`},
		{many, []string{"rel"}, `verb "rel": no such verb; did you mean "release"? 'xfer-many --help' says more`},
		{many, []string{"help"}, `verb "help": no such verb; 'xfer-many --help' says more`},
		{many, []string{""}, `verb "": no such verb; 'xfer-many --help' says more`},
		{many, []string{"--nope", "take"}, `flag "--nope": no such flag; 'xfer-many --help' says more`},
		{many, []string{"--as"}, `flag "--as": needs a value`},
		{many, []string{"release", "x", "--wait", "5"}, `flag "--wait": no such flag; 'xfer-many release --help' says more`},
		{many, []string{"release"}, `release: too few arguments; usage: xfer-many release [flags] [ID]`},
		{many, []string{"take", "a", "b c"}, `take: too many arguments: "b c"; usage: xfer-many take [flags] [ID]`},
		{many, []string{"--", "take"}, `list: too many arguments: "take"; usage: xfer-many list [flags] [ID]`},
		{many, []string{"need"}, `flag "--kind": needs to be given; --kind KIND: task or notification as KIND`},
	} {
		msg, hint, ok := strings.Cut(c.want, "; ")
		want := c.p.Name + ": " + msg + "\n"
		if ok {
			want += c.p.Name + ": hint: " + hint + "\n"
		}
		equal(t, fmt.Sprintf("%q", c.args), runProgram(t, c.p, c.args...), run{64, "", want})
	}
}

func TestUsageErrorInJSON(t *testing.T) {
	p := single(func(*Call) error { return nil })
	got := runProgram(t, p, "--nope", "--json", "-q")
	equal(t, "run", got, run{64, "", `{"error":"flag \"--nope\": no such flag","class":"usage","status":64,"hint":"'xfer-one --help' says more"}` + "\n"})
	// What follows "--" is no flag.
	equal(t, "run", runProgram(t, p, "--nope", "--", "--json").stderr, "xfer-one: flag \"--nope\": no such flag\nxfer-one: hint: 'xfer-one --help' says more\n")
}

type even int

func (e *even) String() string { return fmt.Sprint(int(*e)) }

func (e *even) Set(s string) error {
	if strings.ContainsAny(s[len(s)-1:], "13579") {
		return errors.New("odd")
	}
	return nil
}

func TestRequiredFlagGiven(t *testing.T) {
	var got string
	p := several(func(_ string, c *Call) error { got = c.String("kind"); return nil })
	equal(t, "run", runProgram(t, p, "need", "--kind", "task"), run{})
	equal(t, "kind", got, "task")
}

func TestNear(t *testing.T) {
	names := []string{"reviewer", "review", "take", "list", "alpha", "alpah"}
	for word, want := range map[string]string{
		"reviewr": "review", "reviewwer": "reviewer", "tkae": "take", "lst": "list", "al": "alpah",
		"xyz": "", "t": "", "lo": "", "": "", "tooke": "take",
	} {
		equal(t, word, Near(word, names), want)
	}
}

func TestVerbWordsACommonFlagItsOwnWay(t *testing.T) {
	var got string
	p := single(func(c *Call) error { got = seen("", c); return nil })
	p.Verbs[0].Flags = []cli.Flag{&cli.StringSliceFlag{Name: "as", Usage: "hold `NAME` (repeatable)"}}
	equal(t, "run", runProgram(t, p, "--as", "a", "--as=b"), run{})
	equal(t, "seen", strings.Contains(got, `as=["a" "b"]`), true)
	equal(t, "help", strings.Count(runProgram(t, p, "--help").stdout, "--as NAME  "), 1)
}
