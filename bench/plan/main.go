// Plan times gc beside what it cannot do without, on a spool of many finished
// handoffs that it makes.
//
//	plan [-n N] [-rounds N] [-json] DIR
//
// Two rows: gc's plan against a bare walk with an lstat of each name, both on
// the whole tree; and what gc's sweep adds to its plan against reading each
// handoff once, one synced file of 32 bytes a handoff, and an unlink of each.
// Each is a process of its own, in turn; a ratio is a median over the rounds,
// and the peak memory the greatest of them, in bytes. DIR must not be there, and
// is removed at the end.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"xfer/spool"
	"xfer/spool/reap"
)

type options struct {
	n, rounds int
	json      bool
	do        string
	dir       string
}

func main() {
	o := options{}
	flag.IntVar(&o.n, "n", 200_000, "finished `handoffs`")
	flag.IntVar(&o.rounds, "rounds", 5, "`rounds` of walk and plan")
	flag.BoolVar(&o.json, "json", false, "one JSON object a row")
	flag.StringVar(&o.do, "do", "", "`step` of a child")
	flag.Parse()
	o.dir = flag.Arg(0)
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(64)
	}
	err := steps[o.do](o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "plan: %v\n", err)
		os.Exit(74)
	}
}

var steps map[string]func(options) error

func init() {
	steps = map[string]func(options) error{
		"":      measure,
		"walk":  func(o options) error { return walk(o.dir) },
		"plan":  func(o options) error { return sweep(o.dir, true) },
		"sweep": func(o options) error { return sweep(o.dir, false) },
		"fill":  func(o options) error { return fill(o.dir, o.n, true) },
		"bare":  func(o options) error { return bare(filepath.Join(o.dir, "peers", "bob", "done")) },
	}
}

// A row is what is printed.
type row struct {
	Row   string  `json:"row"`
	Ratio float64 `json:"ratio"`
	Peak  int64   `json:"peak_bytes"`
	Count int     `json:"count"`
}

func measure(o options) error {
	defer os.RemoveAll(o.dir)
	if err := fill(o.dir, o.n, true); err != nil {
		return err
	}
	var ratios []float64
	var peak int64
	for range o.rounds {
		bare, _, err := child(o.dir, "walk")
		if err != nil {
			return err
		}
		cost, size, err := child(o.dir, "plan")
		if err != nil {
			return err
		}
		ratios = append(ratios, float64(cost)/float64(bare))
		peak = max(peak, size)
	}
	if err := o.print(row{"plan", median(ratios), peak, o.n}); err != nil {
		return err
	}
	return o.measureSweep()
}

// measureSweep is about handoffs that came from elsewhere: of what was sent from
// here, the links go by themselves, a month later.
func (o options) measureSweep() error {
	took := make(map[string]time.Duration)
	var peak int64
	for _, step := range []string{"bare", "sweep"} {
		if err := os.RemoveAll(o.dir); err != nil {
			return err
		}
		if err := fill(o.dir, o.n, false); err != nil {
			return err
		}
		plan, _, err := child(o.dir, "plan")
		if err != nil {
			return err
		}
		cost, size, err := child(o.dir, step)
		if err != nil {
			return err
		}
		if took[step] = cost; step == "sweep" {
			took[step], peak = cost-plan, size
		}
	}
	return o.print(row{"sweep", float64(took["sweep"]) / float64(took["bare"]), peak, o.n})
}

func (o options) print(r row) error {
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	_, err := fmt.Printf("%-6s × %.2f, %d MB at its peak, of %d\n", r.Row, r.Ratio, r.Peak>>20, r.Count)
	return err
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// child runs one step in a process of its own.
func child(dir, step string) (took time.Duration, peak int64, err error) {
	c := exec.Command("/proc/self/exe", "-do", step, dir)
	c.Stderr = os.Stderr
	began := time.Now()
	if err := c.Run(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", step, err)
	}
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	return time.Since(began), int64(usage.Maxrss) << 10, nil //nolint:unconvert // 32 bits on some systems
}

// walk looks at each name of the tree, as the directories give them.
func walk(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	_ = f.Close()
	if err != nil {
		return err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err == nil && info.IsDir() {
			err = walk(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// later is beyond all that gc keeps.
func later() time.Time { return time.Now().AddDate(1, 0, 0) }

func sweep(dir string, dry bool) error {
	s, err := spool.Open(dir, system())
	if err != nil {
		return err
	}
	r, err := s.Reap(context.Background())
	if err != nil {
		return err
	}
	defer r.Close()
	n := 0
	w := &reap.Sweep{R: r, S: s, Keep: reap.DefaultKeep(), Now: later, Dry: dry, Tell: func(reap.Done) { n++ }}
	if err := w.Run(context.Background()); err != nil || n > 0 {
		return err
	}
	return errors.New("nothing was planned")
}

// bare reads each handoff, remembers it, and removes it.
func bare(dir string) error {
	names, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	memory := make([]byte, 0, 32*len(names))
	for _, e := range names {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		memory = append(memory, b[:32]...)
	}
	f, err := os.Create(filepath.Join(dir, "memory"))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(memory); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	for _, e := range names {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
