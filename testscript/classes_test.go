package testscript_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"xfer/internal/tool"
)

// TestErrorTable fails for a class of error that no script shows, and for a
// script that shows a class or a status which the table does not have. A script
// shows a class by comparing stderr with a golden in which a line is the error
// as --json tells it.
func TestErrorTable(t *testing.T) {
	table := map[string]int{}
	for _, class := range append(tool.Classes(), tool.ClassOf(errors.New("any other"))) {
		table[class.Name] = class.Status
	}
	scripts, err := filepath.Glob("*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, script := range scripts {
		data, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range pinnedErrors(data) {
			shown[e.Class] = true
			if status, ok := table[e.Class]; !ok || status != e.Status {
				t.Errorf("%s: class %q with status %d is not in the error table", script, e.Class, e.Status)
			}
		}
	}
	for _, class := range slices.Sorted(maps.Keys(table)) {
		if !shown[class] {
			t.Errorf("no script pins an error of class %q", class)
		}
	}
}

// toldError is an error as --json tells it.
type toldError struct {
	Error, Class string
	Status       int
}

// pinnedErrors returns the errors that a script pins whole.
func pinnedErrors(script []byte) []toldError {
	archive := txtar.Parse(script)
	compared := map[string]bool{}
	for line := range strings.Lines(string(archive.Comment)) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "cmp" && words[1] == "stderr" {
			compared[words[2]] = true
		}
	}
	var pinned []toldError
	for _, file := range archive.Files {
		if !compared[file.Name] {
			continue
		}
		for line := range strings.Lines(string(file.Data)) {
			var e toldError
			if json.Unmarshal([]byte(line), &e) == nil && e.Error != "" {
				pinned = append(pinned, e)
			}
		}
	}
	return pinned
}

func TestPinnedErrors(t *testing.T) {
	const script = `exits 67 xfer-send --json x
cmp stderr pinned
# cmp stderr mentioned
stderr 'unpinned'
-- pinned --
{"error":"send to \"x\": no such peer","class":"no-peer","status":67}
{"note":"no error","class":"note"}
-- mentioned --
{"error":"m","class":"mentioned","status":1}
-- unpinned --
{"error":"u","class":"unpinned","status":1}
`
	want := []toldError{{`send to "x": no such peer`, "no-peer", 67}}
	if got := pinnedErrors([]byte(script)); !slices.Equal(got, want) {
		t.Errorf("pinned %v, want %v", got, want)
	}
}
