package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const contrib = "../../contrib"

// systemd finds nothing to say about the units, as a user's and as the
// system's.
func TestUnits(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Fatalf("%v: it is in the package systemd", err)
	}
	units, err := filepath.Glob(filepath.Join(contrib, "systemd", "*"))
	if err != nil || len(units) == 0 {
		t.Fatalf("units: %q, %v", units, err)
	}
	dir := t.TempDir()
	var instances []string
	for _, unit := range units {
		data, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		// The programs are not installed where the units look for them.
		text := strings.ReplaceAll(string(data), "/usr/local/bin/", bin+"/")
		name := strings.Replace(filepath.Base(unit), "@.", "@reviewer.", 1)
		for _, file := range []string{filepath.Base(unit), name} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		instances = append(instances, filepath.Join(dir, name))
	}
	for _, whose := range []string{"--user", "--system"} {
		c := exec.Command("systemd-analyze", append([]string{"verify", "--man=no", whose}, instances...)...)
		c.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
		out, err := c.CombinedOutput()
		said := ""
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "xfer-") {
				said += line
			}
		}
		if err != nil || said != "" {
			t.Errorf("%s: %v\n%s", whose, err, out)
		}
	}
}

// The crontab's line, run by cron's shell in cron's environment, handles what is
// there and says nothing, whatever is left for later.
func TestCrontab(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(contrib, "cron", "crontab"))
	if err != nil {
		t.Fatal(err)
	}
	path, command := "", ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if value, ok := strings.CutPrefix(line, "PATH="); ok {
			path = value
		} else if fields := strings.Fields(line); len(fields) > 5 && fields[0] == "*/5" {
			command = strings.Join(fields[5:], " ")
		}
	}
	if path == "" || command == "" || strings.Contains(command, "%") {
		t.Fatalf("PATH %q, line %q", path, command)
	}
	b := newBench(t)
	home := filepath.Dir(b.dir)
	tools := filepath.Join(home, "tools") // for /usr/local/bin
	if err := os.Mkdir(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(bin, "xfer-recv"), filepath.Join(tools, "xfer-recv")); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "LOGNAME=alice", "SHELL=/bin/sh", "PATH=" + strings.Replace(path, "/usr/local/bin", tools, 1)}
	cron := func() *exec.Cmd {
		c := exec.Command("/bin/sh", "-c", command)
		c.Dir, c.Env = home, env
		return c
	}
	// alice's spool and host, too, are what they are where nothing is set.
	alice := func(c *exec.Cmd) *exec.Cmd {
		c.Env = append(env, "XFER_NAME=alice")
		return c
	}
	review := func(script string) {
		if err := os.WriteFile(filepath.Join(tools, "review"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	silent := func(what string) {
		t.Helper()
		if e := b.exits(0, cron()); e.stdout+e.stderr != "" {
			t.Errorf("%s: %v", what, e)
		}
	}
	review("exec tr a-z A-Z")
	if e := b.exits(0, cron()); e.stdout != "" || strings.Count(e.stderr, "\n") != 2 || !strings.Contains(e.stderr, "created spool") || !strings.Contains(e.stderr, "created mailbox") {
		t.Errorf("no spool there: %v", e)
	}
	silent("nothing there")
	id := b.id(alice(b.send("alice", "-k", "task", "-s", "s", "reviewer")), "body\n")
	if e := b.exits(0, cron()); e.stdout != "" || !strings.Contains(e.stderr, "concluded "+id) {
		t.Errorf("one handled: %v", e)
	}
	if got := b.ok(alice(b.inbox("alice", "await", "-q", id))); got != "BODY\n" {
		t.Errorf("concluded with %q", got)
	}
	review("exit 75")
	b.id(alice(b.send("alice", "-k", "notification", "-s", "s", "reviewer")), "body\n")
	silent("one left for later")
	silent("not due yet")
}
