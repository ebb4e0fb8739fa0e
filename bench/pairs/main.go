// Pairs times command lines side by side and prints what each costs against
// the first.
//
//	pairs [-n N] [-warm N] [-stdin FILE] [-name NAME,…] [-json [-row WORD]] -- CMD [ARG…] -- CMD [ARG…]…
//
// Each round runs every command once, in an order that changes; a ratio is taken
// within its round, and what is printed is the median over the rounds, with
// the 10th and 90th percentile. It blocks until all has run; a command that
// exits with a status other than 0 ends it, status 1.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"xfer/bench/measure"
)

type options struct {
	plan measure.Plan
	json bool
	row  string
}

// A record is one object of the JSON form.
type record struct {
	Row string `json:"row,omitempty"`
	measure.Result
}

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "pairs: %v\n", err)
		os.Exit(64)
	}
	results, err := measure.Run(o.plan)
	if err == nil {
		err = report(os.Stdout, results, o)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "pairs: %v\n", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("pairs", flag.ContinueOnError)
	flags.IntVar(&o.plan.Rounds, "n", 150, "`rounds` that count")
	flags.IntVar(&o.plan.Warm, "warm", 10, "`rounds` before them that do not")
	stdin := flags.String("stdin", "", "`file` that each command gets as its standard input")
	names := flags.String("name", "", "`names` of the commands in the results, separated by commas")
	flags.BoolVar(&o.json, "json", false, "one JSON object a command")
	flags.StringVar(&o.row, "row", "", "`word` that each JSON object repeats")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	labels := strings.Split(*names, ",")
	for i, line := range split(flags.Args()) {
		c := measure.Command{Args: line, Stdin: *stdin}
		if i < len(labels) {
			c.Label = labels[i]
		}
		o.plan.Commands = append(o.plan.Commands, c)
	}
	if len(o.plan.Commands) < 2 || o.plan.Rounds < 1 || o.plan.Warm < 0 {
		return o, errors.New("two command lines, each after \"--\", and at least one round")
	}
	return o, nil
}

func split(args []string) [][]string {
	var lines [][]string
	for len(args) > 0 {
		end := slices.Index(args, "--")
		if end < 0 {
			end = len(args)
		}
		if end > 0 {
			lines = append(lines, args[:end])
		}
		args = args[min(end+1, len(args)):]
	}
	return lines
}

func report(w io.Writer, results []measure.Result, o options) error {
	if o.json {
		enc := json.NewEncoder(w)
		for _, r := range results {
			if err := enc.Encode(record{o.row, r}); err != nil {
				return err
			}
		}
		return nil
	}
	for _, r := range results {
		if _, err := fmt.Fprintln(w, r); err != nil {
			return err
		}
	}
	return nil
}
