//go:build ratio

package ratio

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What gc costs on a spool with many finished handoffs: $MANY of them. Nobody
// waits for a sweep, so that its limit leaves room for the locks it takes.
const (
	planLimit  = 3.0
	sweepLimit = 4.0
	peakLimit  = 300 << 20 // bytes
)

func TestPlan(t *testing.T) {
	program := filepath.Join(t.TempDir(), "plan")
	build := exec.Command("go", "build", "-o", program, "xfer/bench/plan")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	many := cmp.Or(os.Getenv("MANY"), "200000")
	out, err := exec.Command(program, "-json", "-n", many, filepath.Join(t.TempDir(), "spool")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out) {
		var r struct {
			Row   string
			Ratio float64
			Peak  int64 `json:"peak_bytes"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		limit := map[string]float64{"plan": planLimit, "sweep": sweepLimit}[r.Row]
		t.Logf("%s of %s: × %.2f, at most %.1f; %d MB", r.Row, many, r.Ratio, limit, r.Peak>>20)
		if r.Ratio > limit {
			t.Errorf("%s: × %.2f is over %.1f", r.Row, r.Ratio, limit)
		}
		if r.Row == "plan" && r.Peak > peakLimit {
			t.Errorf("plan: %d bytes at its peak are over %d", r.Peak, peakLimit)
		}
	}
	if n := bytes.Count(out, []byte("\n")); n != 2 {
		t.Errorf("%d rows", n)
	}
}
