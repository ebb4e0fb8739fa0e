package spool

import (
	"regexp"
	"strings"
	"testing"
)

func TestParseName(t *testing.T) {
	for _, s := range []string{"a", "0", "reviewer", "a.b_c-d", "com", "com10", "lpt", "console", "aux-1", "a-", "a_", strings.Repeat("a", 64)} {
		if n, err := ParseName(s); err != nil || string(n) != s {
			t.Errorf("%q: got %q, %v", s, n, err)
		}
	}
	for _, s := range []string{
		"", ".", "..", "../x", "/etc", "a/b", "-rf", "_a", ".a", "a.", "a..b", "a\x00b", "a b", "a\n", "A", "aB", "é", "ａｂ",
		"con", "nul", "prn", "aux", "com1", "lpt0", "con.txt", "com9.d", "a.sync-conflict-20261130-170000-abcdefg", "sync-conflict",
		"bob@host", strings.Repeat("a", 65), strings.Repeat("a", 300), "\xff", "a\u202e", "a\x1b[2j",
	} {
		n, err := ParseName(s)
		if n != "" {
			t.Errorf("%q: got %q", s, n)
		}
		wantErr(t, err, ErrName)
	}
}

// nameGrammar says it a second time, in another way.
var (
	nameGrammar = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9_-])?$`)
	nameDevice  = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
)

func FuzzParseName(f *testing.F) {
	for _, s := range []string{"reviewer", "a..b", "con.x", "lpt3", "a.", "Übung", "x.sync-conflict", strings.Repeat("ab.", 22)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, err := ParseName(s)
		want := nameGrammar.MatchString(s) && !strings.Contains(s, "..") && !nameDevice.MatchString(s) && !strings.Contains(s, "sync-conflict")
		if (err == nil) != want {
			t.Errorf("%q: got %v, and the grammar says %t", s, err, want)
		}
	})
}
