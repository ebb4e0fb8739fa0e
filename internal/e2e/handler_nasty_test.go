package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A handler can be any command: each of these ends as documented, in little
// memory, and what comes behind it comes.
func TestNastyHandlers(t *testing.T) {
	for _, h := range []struct {
		name, script, place string
		most                time.Duration // that it may take, 0: any
	}{
		{"a child keeps stdout and stderr open", `sleep 30 & echo $! >>"$MARKS/daemon"`, "done", 20 * time.Second},
		{"a daemon keeps everything open, the lock too", `setsid sleep 30 & echo $! >>"$MARKS/daemon"`, "done", 20 * time.Second},
		{"ignores TERM", `trap '' TERM; while :; do sleep 30; done`, "bad", 20 * time.Second},
		{"1 GB to stderr", `head -c 1000000000 /dev/zero >&2; exit 3`, "bad", 0},
		{"closes stdin at once", `exec <&-; exit 0`, "done", 0},
		{"closes everything", `exec <&- >&- 2>&- 3>&-; exit 0`, "done", 0},
		{"NULs and escapes", `printf '\000\033[2J\377\n' >&2; exit 3`, "bad", 0},
		{"kills itself", `kill -SEGV $$`, "bad", 0},
		{"kills its group", `kill -KILL 0`, "bad", 0},
		{"removes its document", `rm "$XFER_HANDOFF_FILE"`, "done", 0},
	} {
		t.Run(h.name, func(t *testing.T) {
			b := newBench(t, "alice", "bob")
			id := b.id(b.send("alice", "-k", "notification", "-s", "s", "bob"), strings.Repeat("body\n", 1<<16))
			begun := time.Now()
			c := b.recv("bob", "--drain", "--retries", "0", "--timeout", "500ms", "--grace", "100ms", "--", "sh", "-c", h.script)
			if strings.HasPrefix(h.name, "1 GB") {
				c.Args = withoutTimeout(c.Args)
			}
			wantSmall(t, c)
			if took := time.Since(begun); h.most > 0 && took > h.most {
				t.Errorf("it took %s, want at most %s", took, h.most)
			}
			for _, pid := range b.marked("daemon") {
				_ = exec.Command("kill", pid).Run()
			}
			want := []string{id}
			if h.place == "bad" {
				want = append(want, id+".reason")
				reason, err := os.ReadFile(filepath.Join(b.dir, "peers/bob/bad", id+".reason"))
				if err != nil || bytes.ContainsFunc(reason, func(r rune) bool { return r == 0 || r == 0x1b || r == utf8.RuneError }) || len(reason) > 20<<10 {
					t.Errorf("its reason: %v, %.300q", err, reason)
				}
			}
			b.wantOnly(h.place, want)
		})
	}
}

func withoutTimeout(args []string) (kept []string) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--timeout" {
			i++
			continue
		}
		kept = append(kept, args[i])
	}
	return kept
}

// wantSmall runs a receiver to its end, which has to be 0, and looks at its
// memory all the time.
func wantSmall(t *testing.T, c *exec.Cmd) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	c.Stderr = null
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	most := int64(0)
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%v", err)
			}
			if most > 64<<20 {
				t.Errorf("%d MB resident", most>>20)
			}
			return
		case <-tick.C:
			most = max(most, peakIfAny(c.Process.Pid))
		}
	}
}

// peakIfAny is the peak of a process's resident memory, 0 when it has ended.
func peakIfAny(pid int) int64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil || !strings.Contains(string(data), "VmHWM:") {
		return 0
	}
	kB, err := strconv.ParseInt(strings.TrimSpace(between(string(data), "VmHWM:", "kB")), 10, 64)
	if err != nil {
		return 0
	}
	return kB << 10
}
