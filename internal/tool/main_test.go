package tool

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// roleVariable makes a copy of the test binary the program under test.
const roleVariable = "XFER_TOOL_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		Main(single(roles[role]))
	}
	os.Exit(m.Run())
}

var roles = map[string]func(*Call) error{
	"wait": func(c *Call) error {
		c.Stay()
		_, _ = io.WriteString(c.Out.Raw(), "ready\n")
		<-c.Ctx.Done()
		if err := c.Out.Write(parcels[1]); err != nil {
			return err
		}
		return c.Ctx.Err()
	},
	"finish": func(c *Call) error {
		c.Stay()
		_, _ = io.WriteString(c.Out.Raw(), "ready\n")
		<-c.Ctx.Done()
		return nil
	},
	"which": func(c *Call) error {
		c.Stay()
		_, _ = io.WriteString(c.Out.Raw(), "ready\n")
		<-c.Ctx.Done()
		_, _ = io.WriteString(c.Out.Raw(), context.Cause(c.Ctx).Error()+"\n")
		return nil
	},
	"hang": func(c *Call) error {
		c.Stay()
		_, _ = io.WriteString(c.Out.Raw(), "ready\n")
		<-c.Ctx.Done()
		_, _ = io.WriteString(c.Out.Raw(), "caught\n")
		_, err := io.ReadAll(c.Process.Stdin)
		return err
	},
	"pipe": func(c *Call) error {
		if _, err := io.ReadAll(c.Process.Stdin); err != nil {
			return err
		}
		return list(c)
	},
	"outlive": func(c *Call) error {
		c.Stay()
		if _, err := io.ReadAll(c.Process.Stdin); err != nil {
			return err
		}
		_ = list(c)
		err := c.Out.Flush()
		c.Err.Say("outlived")
		return err
	},
	"fail": func(*Call) error { return Usage("x") },
	"panic": func(*Call) error {
		var c *Call
		return c.Ctx.Err()
	},
}

// A child is a program in a process of its own.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	pipe   io.ReadCloser
	stdout *bufio.Reader
	stderr io.ReadCloser
}

func start(t *testing.T, role string, wrapper ...string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A shell starts its background jobs with SIGINT ignored, and this may be
	// one.
	argv := append(append([]string{"env", "--default-signal=INT,TERM,PIPE"}, wrapper...), self)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	c := &child{t: t, cmd: cmd}
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if c.pipe, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if c.stderr, err = cmd.StderrPipe(); err != nil {
		t.Fatal(err)
	}
	c.stdout = bufio.NewReader(c.pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return c
}

func (c *child) line(want string) {
	c.t.Helper()
	got, err := c.stdout.ReadString('\n')
	if err != nil || got != want+"\n" {
		c.t.Fatalf("read %q, %v; want %q", got, err, want)
	}
}

func (c *child) signal(sig os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(sig); err != nil {
		c.t.Fatal(err)
	}
}

// end is how the child ended, and what it said.
func (c *child) end() string {
	c.t.Helper()
	said, err := io.ReadAll(c.stderr)
	if err != nil {
		c.t.Fatal(err)
	}
	_ = c.cmd.Wait()
	how := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if how.Signaled() {
		return fmt.Sprintf("%s %q", how.Signal(), said)
	}
	return fmt.Sprintf("exit %d %q", how.ExitStatus(), said)
}

func TestDiesOfTheSignal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		c := start(t, "wait")
		c.line("ready")
		c.signal(sig)
		c.line("a-long-one\t12345\t-\t-\t-")
		equal(t, "wait", c.end(), sig.String()+` ""`)

		c = start(t, "finish")
		c.line("ready")
		c.signal(sig)
		equal(t, "finish", c.end(), sig.String()+` ""`)
	}
}

func TestSecondSignalKills(t *testing.T) {
	c := start(t, "hang")
	c.line("ready")
	c.signal(syscall.SIGTERM)
	c.line("caught")
	c.signal(syscall.SIGINT)
	equal(t, "end", c.end(), `interrupt ""`)
}

func TestIgnoredSignalStaysIgnored(t *testing.T) {
	c := start(t, "which", "sh", "-c", `trap "" INT; exec "$0"`)
	c.line("ready")
	c.signal(syscall.SIGINT)
	c.signal(syscall.SIGTERM)
	c.line("terminated")
	equal(t, "end", c.end(), `terminated ""`)
}

func TestDiesOfSIGPIPE(t *testing.T) {
	c := start(t, "pipe")
	_ = c.pipe.Close()
	_ = c.stdin.Close()
	equal(t, "end", c.end(), `broken pipe ""`)

	c = start(t, "outlive")
	_ = c.pipe.Close()
	_ = c.stdin.Close()
	equal(t, "end of one that outlives it", c.end(), `broken pipe "xfer-one: outlived\n"`)
}

func TestMainExits(t *testing.T) {
	c := start(t, "fail")
	equal(t, "end", c.end(), `exit 64 "xfer-one: x\n"`)
	c = start(t, "panic")
	equal(t, "panic", c.end()[:6], "exit 2")
}
