// Package testscript_test runs the golden scripts: each *.txtar beside this file
// is a story in which the programs are called as a user would, and what they
// print, how they exit and what they leave in the spool is pinned whole.
//
// The programs are this test binary under other names. Only here do they read
// test variables:
//
//	XFER_TEST_NOW    the time, RFC 3339 (2026-11-30T06:33:33Z)
//	XFER_TEST_SYNC   N:ERRNO, the Nth fsync of the process fails so
//	XFER_TEST_DENY   linkat, renameat2 or both, comma between: not to be had
//	XFER_TEST_UMASK  octal, read by the test itself: the umask of all scripts
//
// Beside testscript's own, scripts have the commands of commands_test.go, the
// program barrier, and the conditions [root], [linkat] and [renameat2].
package testscript_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"xfer/internal/command"
	boardcmd "xfer/internal/command/board"
	gccmd "xfer/internal/command/gc"
	"xfer/internal/tool"
)

var update = flag.Bool("update", false, "rewrite the goldens to what the programs print")

func TestMain(m *testing.M) {
	if err := unprivileged(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testscript.Main(umasked{m}, map[string]func(){
		"xfer-send":  func() { program(command.Send()) },
		"xfer-inbox": func() { program(command.Inbox()) },
		"xfer-board": func() { program(boardcmd.Board()) },
		"xfer-recv":  func() { program(command.Recv()) },
		"xfer-gc":    func() { program(gccmd.GC()) },
		"barrier":    barrier,
	})
}

// program runs p as cmd/ does, but on a machine where everything is known.
func program(p *tool.Program) {
	if err := deny(os.Getenv("XFER_TEST_DENY")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(tool.Run(p, &tool.Process{
		Args:   os.Args,
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		System: knownSystem(),
	}))
}

// umasked runs the tests under $XFER_TEST_UMASK. The programs are not its
// business: they inherit the mask.
type umasked struct{ m *testing.M }

func (u umasked) Run() int {
	if s := os.Getenv("XFER_TEST_UMASK"); s != "" {
		mask, err := strconv.ParseUint(s, 8, 9)
		if err != nil {
			fmt.Fprintf(os.Stderr, "XFER_TEST_UMASK: %v\n", err)
			return 1
		}
		syscall.Umask(int(mask))
	}
	return u.m.Run()
}

func TestScripts(t *testing.T) {
	testscript.Run(t, params("."))
}

func params(dir string) testscript.Params {
	return testscript.Params{
		Dir:                dir,
		Setup:              setup,
		Cmds:               commands,
		Condition:          condition,
		UpdateScripts:      *update,
		RequireUniqueNames: true,
	}
}

func setup(env *testscript.Env) error {
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("XFER_SPOOL", filepath.Join(env.WorkDir, "spool"))
	env.Setenv("XFER_NAME", "alice")
	env.Setenv("TZ", "UTC")
	env.Setenv("XFER_TEST_DENY", os.Getenv("XFER_TEST_DENY"))
	// With -race each program would sleep for a second at its exit, and after a
	// race exit with a status of the table.
	env.Setenv("GORACE", "atexit_sleep_ms=0 exitcode=125")
	env.Values[backgroundKey{}] = map[string]*background{}
	return os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o700)
}

// condition tells scripts about the machine. What a script leaves out where a
// condition does not hold runs where it does: every suite that sets a
// variable runs beside one that does not.
func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "linkat", "renameat2":
		return !strings.Contains(os.Getenv("XFER_TEST_DENY"), name), nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}
