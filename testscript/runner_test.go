package testscript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestRunner runs the scripts of runner/, which are about the runner's own
// commands.
func TestRunner(t *testing.T) {
	testscript.Run(t, params("runner"))
}

// TestRunnerFails checks that what must not pass does not.
func TestRunnerFails(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"wrong status", "exits 3 false", "exit status 1, want 3"},
		{"success expected", "exits 0 false", "exit status 1, want 0"},
		{"failure expected", "exits 1 true", "exit status 0, want 1"},
		{"no such command", "exits 127 no-such-command", "executable file not found"},
		{"status in background", "exits 0 sh -c 'exit 9' &a&\nfinish a", "exit status 9, want 0"},
		{"nothing in background", "finish a", `nothing runs under the name "a"`},
		{"no status", "exits true", "usage: exits"},
		{"negation", "! exits 0 true", "usage: exits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bad.txtar")
			if err := os.WriteFile(path, []byte(c.script+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			p := params("")
			p.Files = []string{path}
			r := &recorder{}
			r.Run("", func(rt testscript.T) { testscript.RunT(rt, p) })
			if !r.failed || !strings.Contains(r.log.String(), c.want) {
				t.Errorf("failed: %v; the log has no %q:\n%s", r.failed, c.want, r.log.String())
			}
		})
	}
}

// recorder is a testscript.T that remembers instead of failing.
type recorder struct {
	failed bool
	log    strings.Builder
}

type gone struct{}

func (r *recorder) Run(_ string, f func(testscript.T)) {
	defer func() {
		if e := recover(); e != nil && e != (gone{}) {
			panic(e)
		}
	}()
	f(r)
}

func (r *recorder) Log(args ...any) {
	for _, a := range args {
		if s, ok := a.(string); ok {
			r.log.WriteString(s + "\n")
		}
	}
}

func (r *recorder) Fatal(args ...any) { r.Log(args...); r.FailNow() }
func (r *recorder) Skip(...any)       { r.FailNow() }
func (r *recorder) FailNow()          { r.failed = true; panic(gone{}) }
func (r *recorder) Parallel()         {}
func (r *recorder) Verbose() bool     { return false }
