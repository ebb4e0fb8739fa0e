package command

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// A trickle gives a piece for each Read; what is ready of it is not waited for.
type trickle struct {
	pieces []string
	ready  int
}

func (s *trickle) Waits() bool { return s.ready == 0 }

func (s *trickle) Read(p []byte) (int, error) {
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.pieces[0])
	s.pieces, s.ready = s.pieces[1:], s.ready-1
	return n, nil
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 3*readAtOnce)
	for _, test := range []struct {
		in, want []string
	}{
		{nil, []string{""}},
		{[]string{"a\nb\n"}, []string{"a\n", "b\n", ""}},
		{[]string{"a", "\n", "b\nc"}, []string{"a\n", "b\n", "c"}},
		{[]string{"", "a\n", "", "\n"}, []string{"a\n", "\n", ""}},
		{[]string{"a\n" + long[:10], long[:readAtOnce], "\nb"}, []string{"a\n", long[:10+readAtOnce] + "\n", "b"}},
	} {
		l := newLines(&trickle{pieces: test.in}, int64(len(long)))
		var got []string
		for {
			line, err := l.next()
			l.back(line)
			again, _ := l.next()
			if got = append(got, string(line)); string(again) != string(line) {
				t.Errorf("%q comes again as %q", line, again)
			}
			if err != nil {
				break
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("of %q come %q", test.in, got)
		}
	}
}

// A line is there once its end is.
func TestLinesWait(t *testing.T) {
	in := &trickle{pieces: []string{"one\ntw", "o", "\nthree\n", "", "four"}}
	l := newLines(in, 100)
	for _, step := range []struct {
		ready int
		wait  bool
		next  string
	}{
		{0, true, ""},
		{1, false, "one\n"},
		{0, true, ""},
		{1, true, ""},
		{1, false, "two\n"},
		{0, false, "three\n"},
		{2, true, ""},
		{1, false, "four"}, // that is the end
	} {
		in.ready = step.ready
		if wait := l.wait(); wait != step.wait {
			t.Errorf("before %q: to be waited for: %t", in.pieces, wait)
		}
		if step.next == "" {
			continue
		}
		if line, _ := l.next(); string(line) != step.next {
			t.Errorf("%q, want %q", line, step.next)
		}
	}
}

// A line over the limit is read no further, be it waited for or not.
func TestLinesLimit(t *testing.T) {
	in := &trickle{pieces: []string{"one\n" + strings.Repeat("x", 99), "x", "x", "\n"}, ready: 4}
	l := newLines(in, 100)
	if line, err := l.next(); string(line) != "one\n" || err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	if l.wait() || len(in.pieces) != 1 {
		t.Errorf("read on, to %q", in.pieces)
	}
	if line, err := l.next(); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("%q, %v", line, err)
	}
}

func TestLinesFault(t *testing.T) {
	broken := errors.New("broken")
	l := newLines(io.MultiReader(strings.NewReader("one\ntwo"), iotest.ErrReader(broken)), 100)
	if line, err := l.next(); string(line) != "one\n" || err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	if line, err := l.next(); len(line) > 0 || !errors.Is(err, broken) {
		t.Errorf("%q, %v: half a line is none", line, err)
	}
}
