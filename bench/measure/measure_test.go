package measure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestQuantile(t *testing.T) {
	values := []float64{40, 10, 30, 20}
	for _, c := range []struct{ q, want float64 }{{0, 10}, {0.5, 25}, {1, 40}} {
		if got := quantile(values, c.q); got != c.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", values, c.q, got, c.want)
		}
	}
	if values[0] != 40 {
		t.Error("quantile changed the order of its argument, and with it the pairs")
	}
}

// The median of the ratios is not the ratio of the medians: a round in which
// the machine was slow for both must not count against either.
func TestResultPairsRounds(t *testing.T) {
	got := result("x", []float64{2, 20, 3}, []float64{1, 10, 3})
	if got.Ratio != 2 || got.Median != 3 {
		t.Errorf("result = %+v, want ratio 2 and median 3", got)
	}
}

// Each command runs once in every round, warm ones included, with its input
// opened anew, and not always in one order.
func TestRunInterleaves(t *testing.T) {
	dir := t.TempDir()
	log, input := filepath.Join(dir, "log"), filepath.Join(dir, "input")
	if err := os.WriteFile(input, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(label string) Command {
		return Command{
			Label: label, Stdin: input, Env: []string{"LABEL=" + label},
			Args: []string{"sh", "-c", `printf "$LABEL%s " "$(cat)" >> "$0"`, log},
		}
	}
	results, err := Run(Plan{Rounds: 20, Warm: 1, Commands: []Command{command("a"), command("b")}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	ran := string(b)
	ab, ba := 0, 0
	for i := 0; i < len(ran); i += len("ax bx ") {
		switch ran[i:min(i+len("ax bx "), len(ran))] {
		case "ax bx ":
			ab++
		case "bx ax ":
			ba++
		}
	}
	if ab+ba != 21 || ab == 0 || ba == 0 {
		t.Errorf("ran %q: %d rounds of a, b and %d of b, a; want 21 in all, some of each", ran, ab, ba)
	}
	if results[0].Label != "a" || results[0].Ratio != 1 || results[1].Median <= 0 {
		t.Errorf("results = %+v", results)
	}
}

// A command that fails is no measurement.
func TestRunRefusesFailure(t *testing.T) {
	_, err := Run(Plan{Rounds: 1, Commands: []Command{{Args: []string{"sh", "-c", "echo why >&2; exit 3"}}}})
	if err == nil || !strings.Contains(err.Error(), "exit status 3: why") {
		t.Errorf("err = %v, want the status and the standard error", err)
	}
	if _, err := Run(Plan{Rounds: 1}); err == nil {
		t.Error("a plan without commands was measured")
	}
}
