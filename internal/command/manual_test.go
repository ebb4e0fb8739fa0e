package command_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"xfer/internal/command"
	boardcmd "xfer/internal/command/board"
	gccmd "xfer/internal/command/gc"
	"xfer/internal/tool"
	"xfer/spool"
)

// What code, help, manual and completions say has to be the same. A flag is
// written here as help does: "-k, --kind KIND".

func programs() []*tool.Program {
	return []*tool.Program{command.Send(), command.Inbox(), command.Recv(), gccmd.GC(), boardcmd.Board()}
}

func top(path ...string) string { return filepath.Join(append([]string{"..", ".."}, path...)...) }

func TestEveryProgramIsInTheManual(t *testing.T) {
	var built, tested []string
	mains, err := filepath.Glob(top("cmd", "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range mains {
		built = append(built, filepath.Base(filepath.Dir(path)))
	}
	for _, p := range programs() {
		tested = append(tested, p.Name)
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(tested)
	if !slices.Equal(built, tested) {
		t.Errorf("cmd/ has %q, and these tests know %q", built, tested)
	}
	front := readPage(t, "xfer.7")
	for _, name := range built {
		if !slices.Contains(front.lines, ".It Xr "+name+" 1") {
			t.Errorf("xfer.7 does not say what %s is for", name)
		}
	}
}

func TestFlagsAgree(t *testing.T) {
	for _, p := range programs() {
		manual := readPage(t, p.Name+".1")
		for _, v := range p.Verbs {
			t.Run(strings.TrimSpace(p.Name+" "+v.Name), func(t *testing.T) {
				code := flagsInCode(t, v)
				compare(t, "help", code, flagsInHelp(t, p, v))
				compare(t, "manual", code, manual.flagsOf(p, v))
			})
		}
	}
}

func TestVerbsAgree(t *testing.T) {
	for _, p := range programs() {
		if len(p.Verbs) == 1 {
			continue
		}
		var code []string
		for _, v := range p.Verbs {
			if v.Name != "" {
				code = append(code, v.Name)
			}
		}
		manual := readPage(t, p.Name+".1")
		var described []string
		for _, heading := range manual.headings() {
			if !slices.Contains([]string{everyVerb, noVerb, filters}, heading) {
				described = append(described, heading)
			}
		}
		compare(t, p.Name+".1", code, described)
		compare(t, p.Name+".1, SYNOPSIS", code, manual.synopsis())
		help := helpOf(t, p, nil)
		for _, name := range code {
			if !regexp.MustCompile(`(?m)^  ` + name + ` `).MatchString(help) {
				t.Errorf("help of %s does not list %q", p.Name, name)
			}
		}
	}
}

// What examples type and the text mentions is there to be typed.
func TestNothingIsDocumentedThatDoesNotExist(t *testing.T) {
	pages, err := filepath.Glob(top("man", "*.[157]"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages: ", err)
	}
	for _, path := range append(pages, top("README.md")) {
		lines := readLines(t, path)
		for i, line := range lines {
			where := fmt.Sprintf("%s:%d", filepath.Base(path), i+1)
			checkCommands(t, where, line)
			for _, m := range regexp.MustCompile(`\bFl (-?[a-z][a-z-]*)`).FindAllStringSubmatch(line, -1) {
				if !isFlag("-"+m[1], filepath.Base(path)) {
					t.Errorf("%s: flag -%s does not exist", where, m[1])
				}
			}
		}
	}
	for _, p := range programs() {
		for _, v := range p.Verbs {
			for _, example := range v.Examples {
				checkCommands(t, "help of "+p.Name+" "+v.Name, example)
			}
		}
	}
}

func TestExitTablesAgree(t *testing.T) {
	var want, got []string
	for _, s := range tool.Statuses() {
		want = append(want, strconv.Itoa(s.Code)+" "+s.Meaning)
	}
	row := regexp.MustCompile(`^\.It (\d+) Ta (\d+\.\d+) Ta (.+)$`)
	for _, line := range readPage(t, "xfer.7").section("EXIT STATUS") {
		if m := row.FindStringSubmatch(line); m != nil {
			got = append(got, m[1]+" "+m[3])
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("xfer.7 has the statuses\n%s\nand the programs\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, p := range programs() {
		lines := readPage(t, p.Name+".1").section("EXIT STATUS")
		var listed []string
		for i, line := range lines {
			if code, ok := strings.CutPrefix(line, ".It "); ok {
				word, _, _ := strings.Cut(lines[i+1], ":")
				word, _, _ = strings.Cut(word, ";")
				word, _, _ = strings.Cut(word, ", ")
				listed = append(listed, code+" "+word)
			}
		}
		want := make([]string, 0, len(listed))
		for _, s := range p.Statuses() {
			want = append(want, strconv.Itoa(s.Code)+" "+s.Word)
		}
		if !slices.Equal(listed, want) {
			t.Errorf("%s.1 has the statuses %q, and the program %q", p.Name, listed, want)
		}
	}
}

func TestManualIsCleanMdoc(t *testing.T) {
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Fatal("mandoc is not installed: apt-get install mandoc")
	}
	pages, err := filepath.Glob(top("man", "*.[1-9]"))
	if err != nil || len(pages) < len(programs())+2 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	args := []string{"-Tlint", "-Wall"}
	for _, path := range pages {
		args = append(args, filepath.Base(path))
		title, section, _ := strings.Cut(filepath.Base(path), ".")
		if want := ".Dt " + strings.ToUpper(title) + " " + section; !slices.Contains(readLines(t, path), want) {
			t.Errorf("%s has no line %q", path, want)
		}
	}
	lint := exec.Command(mandoc, args...)
	lint.Dir = top("man") // it finds the pages that they name only there
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// flagsInCode is every flag of v; each that takes a value names it.
func flagsInCode(t *testing.T, v *tool.Verb) []string {
	var all []string
	for _, f := range v.AllFlags() {
		var names []string
		for _, name := range f.Names() {
			names = append(names, strings.Repeat("-", min(len(name), 2))+name)
		}
		slices.SortFunc(names, func(a, b string) int { return len(a) - len(b) })
		text := strings.Join(names, ", ")
		doc := f.(cli.DocGenerationFlag)
		if doc.TakesValue() {
			parts := strings.Split(doc.GetUsage(), "`")
			if len(parts) != 3 {
				t.Errorf("flag %s: the usage names no value: %q", text, doc.GetUsage())
				continue
			}
			text += " " + parts[1]
		}
		all = append(all, text)
	}
	return all
}

func flagsInHelp(t *testing.T, p *tool.Program, v *tool.Verb) []string {
	_, rest, _ := strings.Cut(helpOf(t, p, v), "\nflags:\n")
	block, _, _ := strings.Cut(rest, "\n\n")
	var all []string
	for line := range strings.Lines(block) {
		text, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		all = append(all, text)
	}
	return all
}

func helpOf(t *testing.T, p *tool.Program, v *tool.Verb) string {
	out, err := os.Create(filepath.Join(t.TempDir(), "help"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	args := []string{p.Name}
	if v != nil && v.Name != "" {
		args = append(args, v.Name)
	}
	status := tool.Run(p, &tool.Process{Args: append(args, "--help"), Stdin: os.Stdin, Stdout: out, Stderr: os.Stderr, System: spool.NewSystem()})
	text, err := os.ReadFile(out.Name())
	if status != 0 || err != nil {
		t.Fatalf("help of %q: status %d, %v", args, status, err)
	}
	return string(text)
}

// compare reports what is only in one of two sets.
func compare(t *testing.T, where string, code, found []string) {
	t.Helper()
	for _, f := range code {
		if !slices.Contains(found, f) {
			t.Errorf("%s lacks %q", where, f)
		}
	}
	for _, f := range found {
		if !slices.Contains(code, f) {
			t.Errorf("%s has %q, which does not exist", where, f)
		}
	}
}

// flagNames is every name that a flag of v is typed by.
func flagNames(v *tool.Verb) []string {
	names := make(map[string]bool)
	for _, f := range v.AllFlags() {
		for _, name := range f.Names() {
			names[strings.Repeat("-", min(len(name), 2))+name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// isFlag tells whether name is a flag of the program that file is about, or of
// any where it is about none.
func isFlag(name, file string) bool {
	for _, p := range programs() {
		if about := p.Name + ".1"; strings.HasSuffix(file, ".1") && file != about {
			continue
		}
		for _, v := range p.Verbs {
			if slices.Contains(flagNames(v), name) {
				return true
			}
		}
	}
	return false
}

var typed = regexp.MustCompile(`\b(xfer-[a-z]+)((?: +[^ |;&<>()]+)*)`)

// checkCommands finds the command lines in text and looks up their flags.
func checkCommands(t *testing.T, where, text string) {
	t.Helper()
	for _, m := range typed.FindAllStringSubmatch(text, -1) {
		i := slices.IndexFunc(programs(), func(p *tool.Program) bool { return p.Name == m[1] })
		if i < 0 {
			continue
		}
		p := programs()[i]
		words := strings.Fields(m[2])
		v := verbOf(p, words)
		for _, word := range words {
			name, _, _ := strings.Cut(strings.TrimRight(word, "'`,."), "=")
			if regexp.MustCompile(`^--?[a-z]`).MatchString(name) && !slices.Contains(flagNames(v), name) {
				t.Errorf("%s: %s %s has no flag %s", where, p.Name, v.Name, name)
			}
		}
	}
}

func verbOf(p *tool.Program, words []string) *tool.Verb {
	standIn := p.Verbs[0]
	for _, v := range p.Verbs {
		if v.Name != "" && slices.Contains(words, v.Name) {
			return v
		}
		if v.Name == p.Default {
			standIn = v
		}
	}
	return standIn
}
