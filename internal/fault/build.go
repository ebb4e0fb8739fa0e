package fault

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// tag is the build tag under which a program imports package pin.
const tag = "xfer_pin"

// Build compiles the main package at importPath as it is shipped, but pinned,
// and returns the path of the program. It is gone when t ends: build in the
// test that the trials are subtests of.
func Build(t *testing.T, importPath string) string {
	t.Helper()
	return build(t, importPath, tag+",urfave_cli_no_docs,urfave_cli_no_suggest")
}

func build(t *testing.T, importPath, tags string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(importPath))
	cmd := exec.Command("go", "build", "-tags", tags, "-o", program, importPath)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %q: %v\n%s", importPath, err, out)
	}
	return program
}
