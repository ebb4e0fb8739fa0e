// Drain times how a long queue is worked off: by xfer-recv --drain, by
// xfer-inbox take --all, and by a bare loop that keeps to the order of system
// calls and looks at nothing else: open, lock, read, hash, rename, and a sync of
// the directory for each 64.
//
//	drain [-n N] [-json] SPOOL LOOP INBOX RECV
//
// The mailbox "bob" of SPOOL has the handoffs. Each round has each of them
// drain it once, as a process of its own, in an order that changes; what was
// moved is put back in between. What is printed is the median over the rounds,
// and the ratio to the bare loop of the same round.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"xfer/bench/loops"
	"xfer/bench/measure"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "drain: %v\n", err)
		os.Exit(74)
	}
}

// A drainer moves what is in new/ somewhere else.
type drainer struct {
	label string
	args  []string
	to    string // below the mailbox
	times []time.Duration
}

func run(args []string) error {
	flags := flag.NewFlagSet("drain", flag.ContinueOnError)
	rounds := flags.Int("n", 5, "`rounds` that count")
	asJSON := flags.Bool("json", false, "one JSON object a drainer")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 4 || *rounds < 1 {
		return errors.New("a spool, the loop, xfer-inbox and xfer-recv, and at least one round")
	}
	dir := flags.Arg(0)
	mailbox := filepath.Join(dir, "peers", "bob")
	all := []*drainer{
		{label: "bare loop", args: []string{flags.Arg(1), "drain", mailbox}, to: "cur"},
		{label: "xfer-inbox take --all", args: []string{flags.Arg(2), "--spool", dir, "--as", "bob", "-q", "--json", "take", "--all"}, to: "done"},
		{label: "xfer-recv --drain", args: []string{flags.Arg(3), "--spool", dir, "--as", "bob", "--drain"}, to: "cur"},
	}
	order := rand.New(rand.NewPCG(1, 2))
	for round := range 1 + *rounds { // the first one does not count
		for _, i := range order.Perm(len(all)) {
			took, err := all[i].once(mailbox)
			if err != nil {
				return err
			}
			if round > 0 {
				all[i].times = append(all[i].times, took)
			}
		}
	}
	return report(os.Stdout, all, *asJSON)
}

// once drains, and puts everything back.
func (d *drainer) once(mailbox string) (time.Duration, error) {
	c := exec.Command(d.args[0], d.args[1:]...)
	c.Stderr = os.Stderr
	begin := time.Now()
	if err := c.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w", d.label, err)
	}
	took := time.Since(begin)
	names, err := loops.Names(filepath.Join(mailbox, d.to))
	if err != nil {
		return 0, err
	}
	if left, err := os.ReadDir(filepath.Join(mailbox, "new")); err != nil || len(left) > 0 || len(names) == 0 {
		return 0, fmt.Errorf("%s: %d were moved, and %d left, %w", d.label, len(names), len(left), err)
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(mailbox, d.to, name), filepath.Join(mailbox, "new", name)); err != nil {
			return 0, err
		}
	}
	unix.Sync() // what was put back is no part of the next one
	return took, nil
}

func report(w io.Writer, all []*drainer, asJSON bool) error {
	enc := json.NewEncoder(w)
	for _, d := range all {
		r := measure.Compare(d.label, d.times, all[0].times)
		var err error
		if asJSON {
			err = enc.Encode(struct {
				Row string `json:"row"`
				measure.Result
			}{"drain", r})
		} else {
			_, err = fmt.Fprintln(w, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
