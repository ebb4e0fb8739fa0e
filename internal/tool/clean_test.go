package tool

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for s, want := range map[string]string{
		"":                         "",
		"plain ÄÖ 日本 €":            "plain ÄÖ 日本 €",
		"a\tb\nc\rd\x00":           `a\x09b\x0ac\x0dd\x00`,
		"\x1b[2J\x7f":              `\x1b[2J\x7f`,
		"\u0080\u009b\u009f\u00a0": `\xc2\x80\xc2\x9b\xc2\x9f` + "\u00a0",
		"\u202a\u202e\u2066\u2069": `\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9`,
		"\u200e\u200f\u061c":       `\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c`,
		"\u2028\u2029":             `\xe2\x80\xa8\xe2\x80\xa9`,
		"\xff\x9b\xc3":             `\xff\x9b\xc3`,
		"\ufffd\u200d":             "\ufffd\u200d",
	} {
		equal(t, want, Clean(s), want)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, harmful) {
			t.Errorf("%q left %q", s, got)
		}
		if again := Clean(got); again != got {
			t.Errorf("%q, again %q", got, again)
		}
	})
}

func TestJSON(t *testing.T) {
	got, err := JSON(map[string]string{"a": "<&>\"\\\n\x1b\x7f\u009b\u202e\u2066\u2028é\xff"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "line", string(got), `{"a":"<&>\"\\\n\u001b\u007f\u009b\u202e\u2066\u2028é\ufffd"}`+"\n")
	if _, err := JSON(make(chan int)); err == nil {
		t.Error("a channel was marshalled")
	}
}
