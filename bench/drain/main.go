// Drain times how a long queue is worked off: by xfer-recv --drain, by
// xfer-inbox take --all, and by a bare loop that keeps to the order of system
// calls and looks at nothing else: open, lock, read, hash, rename, and a sync of
// the directory for each 64.
//
//	drain [-n N] [-json] SPOOL RECV INBOX
//
// The mailbox "bob" of SPOOL has the handoffs. Each round has each of them
// drain it once, as a process of its own, in an order that changes; what was
// moved is put back in between. What is printed is the median over the rounds,
// and the ratio to the bare loop of the same round.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"xfer/bench/measure"
)

const together = 64

func main() {
	var err error
	if len(os.Args) == 3 && os.Args[1] == "bare" {
		err = bare(os.Args[2])
	} else {
		err = run(os.Args[1:])
	}
	if err != nil {
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
	if flags.NArg() != 3 || *rounds < 1 {
		return errors.New("a spool, xfer-recv and xfer-inbox, and at least one round")
	}
	dir := flags.Arg(0)
	mailbox := filepath.Join(dir, "peers", "bob")
	all := []*drainer{
		{label: "bare loop", args: []string{"/proc/self/exe", "bare", mailbox}, to: "cur"},
		{label: "xfer-recv --drain", args: []string{flags.Arg(1), "--spool", dir, "--as", "bob", "--drain"}, to: "cur"},
		{label: "xfer-inbox take --all", args: []string{flags.Arg(2), "--spool", dir, "--as", "bob", "-q", "--json", "take", "--all"}, to: "done"},
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
	names, err := names(filepath.Join(mailbox, d.to))
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

func names(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return f.Readdirnames(-1)
}

// bare is the yardstick.
func bare(mailbox string) error {
	todo, err := names(filepath.Join(mailbox, "new"))
	if err != nil {
		return err
	}
	slices.Sort(todo)
	for i, name := range todo {
		if err := one(mailbox, name); err != nil {
			return err
		}
		if i%together == together-1 || i == len(todo)-1 {
			if err := syncDir(filepath.Join(mailbox, "cur")); err != nil {
				return err
			}
		}
	}
	return nil
}

func one(mailbox, name string) error {
	from := filepath.Join(mailbox, "new", name)
	f, err := os.OpenFile(from, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	header, body, _ := bytes.Cut(text, []byte("\n\n"))
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(body)); !bytes.Contains(header, []byte(want)) {
		return fmt.Errorf("%s: another digest", name)
	}
	return os.Rename(from, filepath.Join(mailbox, "cur", name))
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return f.Sync()
}
