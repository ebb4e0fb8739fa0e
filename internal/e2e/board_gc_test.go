package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// Eight writers append to one card while gc loops: every entry is in it once,
// and a reader in a loop sees each whole. What many more entries do is looked
// at within one process.
func TestAppendsBesideGC(t *testing.T) {
	const writers, entries = 8, 20
	b := newBench(t)
	board := func(as string, args ...string) *exec.Cmd { return b.command(as, "xfer-board", args...) }
	b.ok(board("alice", "create", "Plan", "--id", "plan"))
	stopGC := until(func() { b.silent(b.gc(atOnce...)) })
	stopReader := until(func() { b.entries(b.ok(board("alice", "show", "plan"))) })
	defer stopGC()
	defer stopReader()
	var all []*exec.Cmd
	for i := range writers {
		c := board(fmt.Sprint("writer", i), "-q", "append", "plan")
		loop := exec.Command("/bin/sh", append([]string{"-c", fmt.Sprintf(`i=0; while [ $i -lt %d ]; do echo "begin $XFER_NAME $i end" | "$@" || exit; i=$((i+1)); done`, entries), "sh", c.Path}, c.Args[1:]...)...)
		loop.Env = c.Env
		all = append(all, loop)
	}
	for _, e := range b.race(all) {
		if e.status != 0 {
			t.Error(e)
		}
	}
	stopReader()
	stopGC()
	seen := b.entries(b.ok(board("alice", "show", "plan")))
	for i := range writers {
		for n := range entries {
			if text := fmt.Sprintf("begin writer%d %d end", i, n); seen[text] != 1 {
				t.Errorf("%q is in it %d times", text, seen[text])
			}
		}
	}
}

// entries counts the texts of a card that its writers wrote, which have to be
// whole.
func (b *bench) entries(card string) map[string]int {
	seen := make(map[string]int)
	for line := range strings.Lines(card) {
		text := strings.TrimSpace(line)
		if !strings.Contains(text, "begin") && !strings.Contains(text, "end") {
			continue
		}
		if !strings.HasPrefix(text, "begin ") || !strings.HasSuffix(text, " end") {
			b.t.Errorf("torn: %q", text)
		}
		seen[text]++
	}
	return seen
}
