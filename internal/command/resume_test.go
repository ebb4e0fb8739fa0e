package command

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"xfer/internal/tool"
	"xfer/spool"
)

// typed is what a token is of: each stands for a query of its own, or for the
// same one where same is set.
var typed = []struct {
	same bool
	args []string
}{
	{false, []string{"list"}},
	{true, []string{"--limit", "3"}},
	{true, []string{"list", "-q", "--json", "--wait", "1s"}},
	{true, []string{"list", "--quiet", "--spool", "/elsewhere"}},
	{false, []string{"sent"}},
	{false, []string{"list", "--as", "bob"}},
	{false, []string{"list", "--from", "bob"}},
	{false, []string{"list", "--to", "bob"}},
	{false, []string{"list", "--kind", "task"}},
	{true, []string{"list", "-k", "task"}},
	{false, []string{"list", "-k", "task", "-k", "notification"}},
	{false, []string{"list", "--state", "new"}},
	{false, []string{"list", "--label", "a", "--label", "b"}},
	{false, []string{"list", "--label", "a,b"}},
	{false, []string{"list", "--label", "a b"}},
	{false, []string{"list", "--since", "2026-11-30"}},
	{false, []string{"list", "--before", "2026-11-30"}},
}

// query is queryOf what was typed.
func query(t *testing.T, args ...string) (q string) {
	t.Helper()
	p := Inbox()
	for _, v := range p.Verbs {
		v.Run = func(c *tool.Call) error {
			me, _, err := c.Me()
			q = queryOf(&Caller{Call: c, Name: me})
			return err
		}
	}
	sys := spool.NewSystem()
	sys.Env = func(name string) string {
		return map[string]string{"XFER_NAME": "alice"}[name]
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	status := tool.Run(p, &tool.Process{Args: append([]string{"xfer-inbox"}, args...), Stdin: null, Stdout: os.Stdout, Stderr: os.Stderr, System: sys})
	if status != 0 {
		t.Fatalf("%q: status %d", args, status)
	}
	return q
}

func TestTokenIsBoundToItsQuery(t *testing.T) {
	id := spool.ID("01kb9w6t3v8f5s7q2m4x0c1d9e")
	seen := map[string]string{}
	last := ""
	for _, c := range typed {
		q := query(t, c.args...)
		if c.same != (q == last) {
			t.Errorf("%q: query %q after %q, same: %t", c.args, q, last, c.same)
		}
		if before, there := seen[q]; there && !c.same {
			t.Errorf("%q: the same query as %s", c.args, before)
		}
		seen[q], last = fmt.Sprint(c.args), q
		if got, err := parseToken(tokenOf(q, id), q); got != id || err != nil {
			t.Errorf("%q: %q, %v", c.args, got, err)
		}
	}
	for q := range seen {
		for other := range seen {
			if _, err := parseToken(tokenOf(q, id), other); (err == nil) != (q == other) {
				t.Errorf("a token of %q with %q: %v", q, other, err)
			}
		}
	}
}

// Every change of one character, and every one too many or too few, of a
// thousand tokens is refused.
func TestChangedTokenIsRefused(t *testing.T) {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABZ-_ .\n"
	q := "xfer-inbox\nlist\nalice"
	sys := spool.NewSystem()
	for range 1000 {
		id, err := sys.NewID()
		if err != nil {
			t.Fatal(err)
		}
		token := tokenOf(q, id)
		if got, err := parseToken(token, q); err != nil || got != id {
			t.Fatalf("%q: %q, %v", token, got, err)
		}
		for i := range token {
			for _, r := range alphabet {
				changed := token[:i] + string(r) + token[i+1:]
				if changed != token {
					refused(t, changed, q)
				}
			}
			refused(t, token[:i]+token[i+1:], q)
			refused(t, token[:i]+"0"+token[i:], q)
		}
		refused(t, token+"0", q)
		refused(t, strings.ToUpper(token), q)
	}
}

func refused(t *testing.T, token, query string) {
	t.Helper()
	if id, err := parseToken(token, query); err == nil {
		t.Fatalf("%q is read as %q", token, id)
	}
}
