package command_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The completions are asked in the shells they are for. What the typed line
// could run is on PATH, and must not have run.

type shell struct{ name, script string }

var shells = []shell{{"bash", "xfer.bash"}, {"zsh", "_xfer"}, {"fish", "xfer.fish"}}

// offers asks sh what it offers at the end of each line; a line is words.
// The working directory is empty but for the file body.md.
func offers(t *testing.T, sh shell, spool string, lines ...[]string) [][]string {
	path, err := exec.LookPath(sh.name)
	if err != nil {
		t.Fatalf("%s is not installed: apt-get install %s", sh.name, sh.name)
	}
	driver, err := filepath.Abs(filepath.Join("testdata", "complete."+sh.name))
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(top("completions", sh.script))
	if err != nil {
		t.Fatal(err)
	}
	dir, programs := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "body.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	snares(t, programs)
	typed := make([]string, len(lines))
	for i, words := range lines {
		typed[i] = strings.Join(words, "\t") + "\n"
	}
	args := map[string][]string{"bash": {"--norc"}, "zsh": {"-f"}, "fish": {"--no-config"}}[sh.name]
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(args, driver, script)...)
	cmd.Dir = dir
	// zsh starts a second one, and sets its terminal up, by names on PATH.
	cmd.Env = []string{"PATH=" + programs + ":" + os.Getenv("PATH"), "HOME=" + dir, "XDG_DATA_HOME=" + dir, "XFER_SPOOL=" + spool, "TERM=xterm", "LC_ALL=C.UTF-8"}
	cmd.Stdin = strings.NewReader(strings.Join(typed, ""))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	ran, err := filepath.Glob(filepath.Join(programs, "ran.*"))
	if err != nil || len(ran) > 0 {
		t.Errorf("the completion ran %q: %v", ran, err)
	}
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d lines: %q", len(answers), len(lines), out)
	}
	all := make([][]string, len(lines))
	for i, answer := range answers {
		all[i] = slices.DeleteFunc(strings.Split(answer, "\t"), func(w string) bool { return w == "" })
		slices.Sort(all[i])
	}
	return all
}

// snares are programs that leave a trace of having run.
func snares(t *testing.T, dir string) {
	for _, name := range []string{"xfer-send", "xfer-inbox", "xfer-recv", "xfer-board", "snare"} {
		text := "#!/bin/sh\n: >" + dir + "/ran." + name + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCompletionsOfferEveryFlagAndVerb(t *testing.T) {
	var lines, want [][]string
	for _, p := range programs() {
		var verbs []string
		for _, v := range p.Verbs {
			line := []string{p.Name, "-"}
			if v.Name == "" && len(p.Verbs) > 1 {
				line = []string{p.Name, "--as", "bob", "-"}
			} else if v.Name != "" {
				line = []string{p.Name, "--as", "bob", v.Name, "-"}
				verbs = append(verbs, v.Name)
			}
			lines, want = append(lines, line), append(want, flagNames(v))
		}
		if verbs != nil {
			lines, want = append(lines, []string{p.Name, ""}), append(want, verbs)
		}
	}
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			for i, got := range offers(t, sh, "", lines...) {
				compare(t, strings.Join(lines[i], " "), want[i], got)
			}
		})
	}
}

func TestCompletionsOfferWordsAndPeers(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"alice", "bob", "Robert", "$(snare)", "`snare`", "; snare", "a b"} {
		if err := os.MkdirAll(filepath.Join(root, "peers", dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "board"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plan.md", "c-7h2k9x.md", "plan.sync-conflict-20261130-170000-ABCDEFG.md", "$(snare).md", "seen"} {
		if err := os.WriteFile(filepath.Join(root, "board", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	peers := []string{"alice", "bob"}
	endings := []string{"blocked", "done", "needs-input"}
	asked := []struct {
		line []string
		want []string
	}{
		{[]string{"xfer-send", ""}, peers},
		{[]string{"xfer-send", "-k", "task", "b"}, []string{"bob"}},
		{[]string{"xfer-send", "--as", ""}, peers},
		{[]string{"xfer-inbox", "list", "--from", ""}, peers},
		{[]string{"xfer-send", "--kind", ""}, []string{"notification", "task"}},
		{[]string{"xfer-inbox", "take", "-k", "c"}, []string{"conclusion"}},
		{[]string{"xfer-inbox", "list", "--state", ""}, []string{"all", "bad", "cur", "done", "new", "work"}},
		{[]string{"xfer-inbox", "conclude", "c1d9e", ""}, endings},
		{[]string{"xfer-inbox", "conclude", "$(snare)", ""}, endings},
		{[]string{"xfer-inbox", "conclude", "`snare`", "-f", "x", "b"}, []string{"blocked"}},
		{[]string{"xfer-send", "-f", "bo"}, []string{"body.md"}},
		{[]string{"xfer-inbox", "take", "--dir", "bo"}, nil},
		{[]string{"xfer-inbox", "init", "--shared", "daemo"}, []string{"daemon"}},
		{[]string{"xfer-inbox", "policy", "only", "b"}, []string{"bob"}},
		{[]string{"xfer-board", "show", ""}, []string{"c-7h2k9x", "plan"}},
		{[]string{"xfer-board", "remove", "plan", "c"}, []string{"c-7h2k9x"}},
		{[]string{"xfer-board", "append", "--notify", "b"}, []string{"bob"}},
		{[]string{"xfer-recv", "--once", "--", "sh", "bo"}, []string{"body.md"}},
	}
	lines := make([][]string, len(asked))
	for i := range asked {
		lines[i] = asked[i].line
	}
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			for i, got := range offers(t, sh, root, lines...) {
				if !slices.Equal(got, asked[i].want) {
					t.Errorf("%q: offers %q, want %q", asked[i].line, got, asked[i].want)
				}
			}
		})
	}
}
