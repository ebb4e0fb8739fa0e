package scenario_test

import (
	"regexp"
	"strings"
	"testing"

	"xfer/internal/fault"
)

// steps are what makes a send durable, in the one order that does. Each is
// looked for behind the one before; {name} stands for what an earlier step
// found under that name.
var steps = []struct{ what, call string }{
	{"make the temp file", `^openat\(AT_FDCWD, ".*/peers/bob/tmp/ID\.(?P<random>[0-9a-f]+)", .*O_CREAT.*\) += (?P<file>\d+)$`},
	{"complete its header", `^pwrite64\({file}, `},
	{"sync it", `^fsync\({file}\) += 0$`},
	{"enter it in the registry", `^linkat\(AT_FDCWD, ".*/tmp/ID\.{random}", AT_FDCWD, ".*/local/ids/9e/ID", 0\) += 0$`},
	{"drop its lock", `^flock\({file}, LOCK_UN\) += 0$`},
	{"publish it without replacing", `^renameat2\(AT_FDCWD, ".*/tmp/ID\.{random}", AT_FDCWD, ".*/new/ID", RENAME_NOREPLACE\) += 0$`},
	{"open new/", `^openat\(AT_FDCWD, ".*/peers/bob/new", .*O_DIRECTORY.*\) += (?P<new>\d+)$`},
	{"sync new/", `^fsync\({new}\) += 0$`},
	{"print the id", `^write\(1, "ID\\n", 27\) += 27$`},
}

// once are the calls that must be made at no other moment than in their step.
var once = []string{"linkat(", "renameat2(", "write(1, "}

func TestOrderOfASend(t *testing.T) {
	send, inbox := programs(t)
	calls := fault.Calls(t, func(t *testing.T) fault.Trial {
		w := newWorld(t, send, inbox).create("bob")
		return w.sending(true, theBody, "--as", "alice", "-k", "notification", "--id", string(theID), "bob")
	})
	lines := make([]string, len(calls))
	for i, c := range calls {
		lines[i] = strings.ReplaceAll(c.Line, string(theID), "ID")
	}
	found := map[string]string{}
	rest := lines
	for _, step := range steps {
		at := next(rest, step.call, found)
		if at < 0 {
			t.Fatalf("%s: not behind the step before; the calls:\n%s", step.what, strings.Join(lines, "\n"))
		}
		rest = rest[at+1:]
	}
	for _, call := range once {
		n := 0
		for _, line := range lines {
			if strings.HasPrefix(line, call) && !strings.Contains(line, "= -1 ") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s…) succeeds %d times; the calls:\n%s", call, n, strings.Join(lines, "\n"))
		}
	}
}

// next is the first of lines that fits call, or -1; what call names is added to
// found.
func next(lines []string, call string, found map[string]string) int {
	for name, value := range found {
		call = strings.ReplaceAll(call, "{"+name+"}", value)
	}
	pattern := regexp.MustCompile(call)
	for i, line := range lines {
		m := pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for j, name := range pattern.SubexpNames() {
			if name != "" {
				found[name] = m[j]
			}
		}
		return i
	}
	return -1
}
