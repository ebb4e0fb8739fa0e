package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"xfer/spool"
)

func TestClassOf(t *testing.T) {
	system := func(errno syscall.Errno) error { return &fs.PathError{Op: "open", Path: "x", Err: errno} }
	for _, c := range []struct {
		err    error
		class  string
		status int
	}{
		{Usage("x"), "usage", 64},
		{&spool.Error{Op: "send to", Name: "x", Err: spool.ErrNoPeer}, "no-peer", 67},
		{fmt.Errorf("a: %w", spool.Because(spool.ErrLocked, "held by b")), "locked", 75},
		{WithHint(spool.ErrTaken, "x"), "taken", 73},
		{system(syscall.ENOSPC), "no-space", 75},
		{system(syscall.EDQUOT), "no-space", 75},
		{system(syscall.EROFS), "permission", 77},
		{system(syscall.EACCES), "permission", 77},
		{system(syscall.EPERM), "permission", 77},
		{system(syscall.EIO), "io", 74},
		{errors.New("x"), "io", 74},
		{context.Canceled, "io", 74},
		{&outputError{syscall.ENOSPC}, "output", 74},
		{fmt.Errorf("%w: %w", spool.ErrUnknown, syscall.ENOSPC), "unknown", 79},
		{fmt.Errorf("%w: %w", spool.ErrModes, syscall.EACCES), "modes", 77},
	} {
		got := ClassOf(c.err)
		equal(t, c.err.Error(), fmt.Sprint(got.Name, got.Status), fmt.Sprint(c.class, c.status))
	}
}

func TestTableIsComplete(t *testing.T) {
	sentinels := []error{ErrUsage, ErrOutput, ErrNoFile,
		spool.ErrName, spool.ErrID, spool.ErrAmbiguous, spool.ErrValue, spool.ErrTooLarge, spool.ErrNotATask, spool.ErrIsATask,
		spool.ErrMalformed, spool.ErrIncomplete, spool.ErrNoHandoff, spool.ErrNoPeer, spool.ErrConflict, spool.ErrConcluded,
		spool.ErrTaken, spool.ErrLocked, spool.ErrOwner, spool.ErrModes, spool.ErrElsewhere, spool.ErrRefused,
		spool.ErrNoSpool, spool.ErrVersion, spool.ErrConfig, spool.ErrUnknown}
	for _, err := range sentinels {
		if ClassOf(err).Sentinel != err {
			t.Errorf("%v: class %q", err, ClassOf(err).Name)
		}
	}
	status := make(map[string]int)
	for _, c := range append(Classes(), anyOther) {
		known := slices.ContainsFunc(Statuses(), func(s Status) bool { return s.Code == c.Status })
		if was, ok := status[c.Name]; !known || c.Name == "" || ok && was != c.Status {
			t.Errorf("class %q: status %d, known: %t, before: %d", c.Name, c.Status, known, was)
		}
		status[c.Name] = c.Status
	}
	if !slices.IsSortedFunc(Statuses(), func(a, b Status) int { return a.Code - b.Code }) {
		t.Error("statuses are not in order")
	}
}

func TestEndings(t *testing.T) {
	noPeer := &spool.Error{Op: "send to", Name: "reviewr", Err: spool.ErrNoPeer, Hint: `did you mean "reviewer"?`}
	for _, c := range []struct {
		err  error
		want run
	}{
		{nil, run{}},
		{Exit(1), run{status: 1}},
		{fmt.Errorf("wrapped: %w", Exit(81)), run{status: 81}},
		{noPeer, run{67, "", "xfer-one: send to \"reviewr\": no such peer\nxfer-one: hint: did you mean \"reviewer\"?\n"}},
		{WithHint(noPeer, "other"), run{67, "", "xfer-one: send to \"reviewr\": no such peer\nxfer-one: hint: other\n"}},
		{errors.Join(errors.New("a"), noPeer), run{67, "", "xfer-one: a\\x0asend to \"reviewr\": no such peer\nxfer-one: hint: did you mean \"reviewer\"?\n"}},
		{syscall.ENOSPC, run{75, "", "xfer-one: no space left on device\nxfer-one: hint: make room and try again\n"}},
		{errors.New("a\x1b[2J\u202eb\u009b"), run{74, "", `xfer-one: a\x1b[2J\xe2\x80\xaeb\xc2\x9b` + "\n"}},
	} {
		equal(t, fmt.Sprint(c.err), runProgram(t, single(func(*Call) error { return c.err })), c.want)
	}
	equal(t, "json", runProgram(t, single(func(*Call) error { return noPeer }), "-q", "--json").stderr,
		`{"error":"send to \"reviewr\": no such peer","class":"no-peer","status":67,"hint":"did you mean \"reviewer\"?"}`+"\n")
	equal(t, "json", runProgram(t, single(func(*Call) error { return errors.New("<a>\u202e") }), "--json").stderr,
		`{"error":"<a>\u202e","class":"io","status":74}`+"\n")
}

func TestFailures(t *testing.T) {
	p := single(func(c *Call) error {
		f := c.Failures()
		f.Add(nil)
		equal(t, "nothing yet", f.Err(), nil)
		f.Add(&spool.Error{Op: "send to", Name: "a", Err: spool.ErrNoPeer})
		f.Add(nil)
		f.Add(&spool.Error{Op: "send to", Name: "b", Err: spool.ErrLocked})
		return f.Err()
	})
	equal(t, "run", runProgram(t, p), run{67, "", "xfer-one: send to \"a\": no such peer\nxfer-one: send to \"b\": locked\n"})
}

func TestEndOfContextIsSilent(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	pr := process(t)
	status := RunContext(ctx, single(func(c *Call) error {
		cancel(interrupted{syscall.SIGTERM})
		return fmt.Errorf("read: %w", c.Ctx.Err())
	}), pr)
	equal(t, "ended", run{status, content(t, pr.Stdout), content(t, pr.Stderr)}, run{status: 143})

	pr = process(t)
	status = RunContext(ctx, single(func(c *Call) error { return spool.ErrLocked }), pr)
	equal(t, "another error", run{status, "", content(t, pr.Stderr)}, run{75, "", "xfer-one: locked\n"})
	equal(t, "a context of the verb's own", runProgram(t, single(func(*Call) error { return context.Canceled })).status, 74)
}
