//go:build ratio

// Package ratio holds one test: that no program costs more beside its
// yardstick than was promised. It asserts ratios within one run, never times;
// run it with -count=1 on a machine that has little else to do.
package ratio

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"testing"
)

// limits are what the last command of a row may cost, in costs of its first.
var limits = map[string]float64{
	"send": 2.0,
	"list": 1.5,
	"wake": 3.0,
	// A send that looked at each of a hundred thousand would cost fifty times
	// as much; what is allowed is noise and the filesystem's deeper directory.
	"queue":  1.5,
	"oldest": 2.0,
	"drain":  1.7,
}

const tries = 3

// One disturbed run says nothing: a row is within its limit when the median of
// the tries so far is.
func TestRatios(t *testing.T) {
	seen := make(map[string][]float64)
	var over []string
	for range tries {
		for row, ratio := range run(t) {
			seen[row] = append(seen[row], ratio)
		}
		over = nil
		for row, limit := range limits {
			t.Logf("%s: × %.2f, at most %.1f", row, seen[row], limit)
			if median(seen[row]) > limit {
				over = append(over, row)
			}
		}
		if len(over) == 0 {
			return
		}
	}
	for _, row := range over {
		t.Errorf("%s: × %.2f, the median of which is over %.1f", row, seen[row], limits[row])
	}
}

// run is the last ratio of each row.
func run(t *testing.T) map[string]float64 {
	t.Helper()
	args := []string{"--json"}
	for row := range limits {
		args = append(args, row)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("../run.sh", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run.sh: %v\n%s", err, stderr.Bytes())
	}
	ratios := make(map[string]float64)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var r struct {
			Row   string
			Ratio float64
		}
		err := dec.Decode(&r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("run.sh: %v in %q", err, out)
		}
		ratios[r.Row] = r.Ratio
	}
	if len(ratios) != len(limits) {
		t.Fatalf("run.sh %q printed %q", args, out)
	}
	return ratios
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	// The lower one of two: the second try can clear the first.
	return sorted[(len(sorted)-1)/2]
}
