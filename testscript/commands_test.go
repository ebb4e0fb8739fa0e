package testscript_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exits":  exits,
	"finish": finish,
	"tree":   tree,
}

var inBackground = regexp.MustCompile(`^&[a-z0-9]+&$`)

// exits N COMMAND [ARG…] [&NAME&]
//
// Runs COMMAND, as exec does, and fails unless it exits with N; death by a
// signal is 128 plus its number, as in a shell. In stdout and stderr the
// script's own directory reads $WORK, and a time that a file had from the real
// clock reads $NOW. With &NAME& it runs in the background
// until finish NAME.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, ok := status(args)
	if neg || !ok {
		ts.Fatalf("usage: exits N command [arg...] [&name&]")
	}
	if last := args[len(args)-1]; inBackground.MatchString(last) {
		begin(ts, strings.Trim(last, "&"), want, args[1:len(args)-1])
		return
	}
	err := ts.Exec(args[1], args[2:]...)
	ended(ts, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"), err)
}

func status(args []string) (int, bool) {
	if len(args) < 2 {
		return 0, false
	}
	n, err := strconv.Atoi(args[0])
	return n, err == nil
}

// ended makes what a command printed that of the script's step, and checks its
// status against want.
func ended(ts *testscript.TestScript, want int, stdout, stderr string, err error) {
	_, _ = ts.Stdout().Write([]byte(known(ts, stdout)))
	_, _ = ts.Stderr().Write([]byte(known(ts, stderr)))
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			got = 128 + int(ws.Signal())
		}
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

var (
	began   = time.Now().Add(-time.Second) // the kernel's clock for files lags
	aMoment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// known is s without what another run would print otherwise.
func known(ts *testscript.TestScript, s string) string {
	s = strings.ReplaceAll(s, ts.Getenv("WORK"), "$WORK")
	return aMoment.ReplaceAllStringFunc(s, func(text string) string {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil || at.Before(began.Truncate(time.Second)) || at.After(time.Now()) {
			return text
		}
		return "$NOW"
	})
}

// background is a command between exits and finish.
type background struct {
	cmd            *exec.Cmd
	want           int
	stdout, stderr bytes.Buffer
}

type backgroundKey struct{}

func begin(ts *testscript.TestScript, name string, want int, args []string) {
	// testscript keeps stdin and the environment to itself; its children get
	// both.
	ts.Check(ts.Exec("cat"))
	stdin := ts.ReadFile("stdout")
	ts.Check(ts.Exec("env", "-0"))
	env := strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\x00"), "\x00")

	// The directory is that of the shell which testscript starts.
	ts.Check(ts.Exec("sh", "-c", `pwd -P; command -v "$0"`, args[0]))
	dir, path, _ := strings.Cut(strings.TrimSuffix(ts.ReadFile("stdout"), "\n"), "\n")

	b := &background{cmd: exec.Command(path, args[1:]...), want: want}
	b.cmd.Dir, b.cmd.Env = dir, env
	b.cmd.Stdin, b.cmd.Stdout, b.cmd.Stderr = strings.NewReader(stdin), &b.stdout, &b.stderr
	ts.Check(b.cmd.Start())
	running(ts)[name] = b
	ts.Defer(func() {
		if b.cmd.ProcessState == nil {
			_ = b.cmd.Process.Kill()
			_ = b.cmd.Wait()
		}
	})
	ended(ts, 0, "", "", nil)
}

// running are the script's background commands by name.
func running(ts *testscript.TestScript) map[string]*background {
	return ts.Value(backgroundKey{}).(map[string]*background)
}

// finish NAME
//
// Waits for a command that exits NAME left in the background: stdout, stderr
// and status are then as if it had run here.
func finish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: finish name")
	}
	b := running(ts)[args[0]]
	if b == nil {
		ts.Fatalf("nothing runs under the name %q", args[0])
	}
	delete(running(ts), args[0])
	err := b.cmd.Wait()
	ended(ts, b.want, b.stdout.String(), b.stderr.String(), err)
}

// tree [-d] PATH…
//
// Prints every name from PATH down on a line of its own, sorted, with its mode;
// with -d also eight digits of each file's SHA-256. What is not there is said to
// be absent.
func tree(ts *testscript.TestScript, neg bool, args []string) {
	digests := len(args) > 0 && args[0] == "-d"
	if digests {
		args = args[1:]
	}
	if neg || len(args) == 0 {
		ts.Fatalf("usage: tree [-d] path...")
	}
	for _, root := range args {
		ts.Check(filepath.WalkDir(ts.MkAbs(root), func(path string, d fs.DirEntry, err error) error {
			name := root + strings.TrimPrefix(path, ts.MkAbs(root))
			if errors.Is(err, fs.ErrNotExist) && path == ts.MkAbs(root) {
				fmt.Fprintf(ts.Stdout(), "absent     %s\n", name)
				return nil
			}
			if err != nil {
				return err
			}
			line, err := describe(path, name, d, digests)
			fmt.Fprintln(ts.Stdout(), line)
			return err
		}))
	}
}

func describe(path, name string, d fs.DirEntry, digest bool) (string, error) {
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		name = strconv.Quote(name)
	}
	line := fmt.Sprintf("%-10v %s", info.Mode(), name)
	switch {
	case d.IsDir():
		line += "/"
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return line + " -> " + target, err
	case digest && info.Mode().IsRegular():
		b, err := os.ReadFile(path)
		return fmt.Sprintf("%s %x", line, sha256.Sum256(b))[:len(line)+9], err
	}
	return line, nil
}
