// Package measure times whole processes side by side: commands run in turn,
// round after round, and only the ratios within a round are compared, so that
// whatever else the machine does falls on all of them alike. An absolute time
// from here says something of one machine on one day, a ratio of a program.
package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A Command is one command line under measurement.
type Command struct {
	Label string   // what the results call it; the base name of Args[0] where empty
	Args  []string // with the program first; found in $PATH
	Stdin string   // a file opened anew for each run; /dev/null where empty
	Env   []string // added to the environment
}

// A Plan is what Run does.
type Plan struct {
	Rounds   int // how many rounds count, at least 1
	Warm     int // how many run before them and do not
	Commands []Command
}

// A Result is what one command came to. The ratios are to the first command
// of the plan, of the same round.
type Result struct {
	Label  string  `json:"label"`
	Median float64 `json:"median_ms"` // wall time from fork to wait, in milliseconds
	P10    float64 `json:"p10_ms"`
	P90    float64 `json:"p90_ms"`

	Ratio    float64 `json:"ratio"` // the median over the rounds
	RatioP10 float64 `json:"ratio_p10"`
	RatioP90 float64 `json:"ratio_p90"`
}

const maxTalk = 4096 // bytes of standard error that an error shows

// Run runs the plan and returns one result a command, in their order. It ends
// at the first command that cannot be started or exits with a status other
// than 0; the error then holds what it said on standard error.
func Run(p Plan) ([]Result, error) {
	if p.Rounds < 1 || len(p.Commands) == 0 {
		return nil, errors.New("nothing to measure")
	}
	talk, err := newTalk()
	if err != nil {
		return nil, err
	}
	defer func() { _ = talk.Close() }()
	times := make([][]float64, len(p.Commands))
	// What a command leaves to be written falls on the next one: each comes
	// after any other, in an order that is the same at every run.
	order := rand.New(rand.NewPCG(1, 2))
	for round := range p.Warm + p.Rounds {
		for _, c := range order.Perm(len(p.Commands)) {
			t, err := once(&p.Commands[c], talk)
			if err != nil {
				return nil, err
			}
			if round >= p.Warm {
				times[c] = append(times[c], float64(t)/float64(time.Millisecond))
			}
		}
	}
	results := make([]Result, len(p.Commands))
	for i, c := range p.Commands {
		results[i] = result(c.label(), times[i], times[0])
	}
	return results, nil
}

func (c *Command) label() string {
	if c.Label != "" {
		return c.Label
	}
	return c.Args[0][strings.LastIndexByte(c.Args[0], '/')+1:]
}

// newTalk is a nameless file for standard error. A file, not a buffer: for a
// buffer os/exec makes a pipe and a goroutine, and their end would be
// measured too.
func newTalk() (*os.File, error) {
	f, err := os.CreateTemp("", "measure-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func once(c *Command, talk *os.File) (time.Duration, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stderr = talk
	if c.Stdin != "" {
		f, err := os.Open(c.Stdin)
		if err != nil {
			return 0, err
		}
		defer func() { _ = f.Close() }()
		cmd.Stdin = f
	}
	// Parent and child share the offset: what is behind it is this run's.
	said, err := talk.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	err = cmd.Run()
	took := time.Since(start)
	if err != nil {
		b, _ := io.ReadAll(io.NewSectionReader(talk, said, maxTalk))
		return 0, fmt.Errorf("run %q: %w: %s", c.Args, err, bytes.TrimSpace(b))
	}
	return took, nil
}

// String is r as a line of a table.
func (r Result) String() string {
	return fmt.Sprintf("%-28s %9.3f ms (%.3f–%.3f)   × %.2f (%.2f–%.2f)",
		r.Label, r.Median, r.P10, r.P90, r.Ratio, r.RatioP10, r.RatioP90)
}

// Compare makes a result of what was measured elsewhere: times against those
// of the reference, of the same rounds in the same order.
func Compare(label string, times, reference []time.Duration) Result {
	return result(label, milliseconds(times), milliseconds(reference))
}

func milliseconds(times []time.Duration) []float64 {
	ms := make([]float64, len(times))
	for i, t := range times {
		ms[i] = float64(t) / float64(time.Millisecond)
	}
	return ms
}

func result(label string, times, reference []float64) Result {
	ratios := make([]float64, len(times))
	for i := range times {
		ratios[i] = times[i] / reference[i]
	}
	return Result{
		Label:  label,
		Median: quantile(times, 0.5), P10: quantile(times, 0.1), P90: quantile(times, 0.9),
		Ratio: quantile(ratios, 0.5), RatioP10: quantile(ratios, 0.1), RatioP90: quantile(ratios, 0.9),
	}
}

// quantile interpolates between the two nearest of values, as most tools do.
func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
