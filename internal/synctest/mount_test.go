//go:build sync

package synctest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Two containers have one directory by bind mounts. Under two names each would
// take the other's locks for another machine's; under one they are one host.
func TestTwoContainersOnOneDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := &host{t, "box-00000001", filepath.Join(dir, "spool")}
	one.ok("alice", "", "xfer-inbox", "create")
	one.ok("bob", "", "xfer-inbox", "create")
	id := one.send("alice", "bob", "notification", "the body")

	mounted := filepath.Join(dir, "mounted")
	inOther := func(name, program string, args ...string) end {
		t.Helper()
		h := &host{t, name, mounted}
		c := h.command("bob", program, args...)
		script := `mkdir -p "$XFER_SPOOL" && mount --bind "$0" "$XFER_SPOOL" && exec "$@"`
		c.Args = append([]string{"unshare", "-rm", "sh", "-c", script, one.dir}, append([]string{c.Path}, args...)...)
		path, err := exec.LookPath("unshare")
		if err != nil {
			t.Fatal(err)
		}
		c.Path = path
		var stdout, stderr strings.Builder
		c.Stdout, c.Stderr = &stdout, &stderr
		if err := c.Run(); err != nil && c.ProcessState == nil {
			t.Fatal(err)
		}
		return end{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	}
	if e := inOther("other-00000002", "xfer-inbox", "list"); e.status != 78 || !strings.Contains(e.stderr, "XFER_HOST=box-00000001") {
		t.Errorf("under another name: %+v", e)
	}
	r := one.receive("alice")
	if e := inOther(one.name, "xfer-recv", "--as", "alice", "--drain", "--json"); e.status != 0 {
		t.Errorf("a name that the other container holds: %+v", e)
	}
	if e := inOther(one.name, "xfer-recv", "--as", "alice", "--once"); e.status != 75 {
		t.Errorf("a second receiver in the other container: %+v", e)
	}
	r.stop()
	if e := inOther(one.name, "xfer-inbox", "-q", "take", id); e.status != 0 || e.stdout != "the body" {
		t.Errorf("under one name: %+v", e)
	}
	one.exits(1, "bob", "", "xfer-inbox", "-q", "take")
}
