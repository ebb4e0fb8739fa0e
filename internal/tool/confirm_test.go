package tool

import (
	"errors"
	"os"
	"testing"

	"github.com/urfave/cli/v2"
)

// removing is a program that asks before it removes.
func removing() (p *Program, removed *bool) {
	removed = new(bool)
	return &Program{Name: "rm", Verbs: []*Verb{{
		Synopsis: []string{"[flags]"},
		Flags:    []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "do not ask"}},
		Run: func(c *Call) error {
			err := c.Confirm(`remove "bob"?`)
			*removed = err == nil
			return err
		},
	}}}, removed
}

func TestConfirmAsksOnATerminal(t *testing.T) {
	for answer, yes := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "yess\n": false, "\x04": false} {
		tty, screen, keys := terminal(t)
		p, removed := removing()
		pr := process(t)
		pr.Stdin, pr.Stderr = tty, tty
		done := make(chan int)
		go func() { done <- Run(p, pr) }()
		screen("rm: remove \"bob\"? [y/N] ")
		if _, err := keys.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		want := 64
		if yes {
			want = 0
		}
		if status := <-done; status != want || *removed != yes {
			t.Errorf("after %q: status %d, removed %t", answer, status, *removed)
		}
	}
}

func TestConfirmAsksNowhereElse(t *testing.T) {
	tty, _, _ := terminal(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(r.Close(), w.Close()) }()
	for name, c := range map[string]struct {
		stdin, stderr *os.File
		args          []string
		want          int
	}{
		"no terminal to read": {r, tty, nil, 64},
		"no terminal to ask":  {tty, w, nil, 64},
		"--yes":               {r, w, []string{"--yes"}, 0},
	} {
		p, removed := removing()
		pr := process(t, c.args...)
		pr.Stdin, pr.Stderr = c.stdin, c.stderr
		status := Run(p, pr)
		if status != c.want || *removed != (c.want == 0) {
			t.Errorf("%s: status %d, removed %t", name, status, *removed)
		}
	}
}
