// List prints the first names of a directory in order: the least that a
// program which shows the oldest of many files has to do. It is the yardstick
// for the first page of "xfer-inbox list".
//
//	list DIR [COUNT]
package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
)

const page = 100

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "list: %v\n", err)
		os.Exit(74)
	}
}

func run(args []string) error {
	count := page
	if len(args) == 2 {
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		count = n
	} else if len(args) != 1 {
		return fmt.Errorf("a directory and perhaps a count, not %q", args)
	}
	dir, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	slices.Sort(names)
	out := bufio.NewWriter(os.Stdout)
	for _, name := range names[:min(count, len(names))] {
		_, _ = out.WriteString(name + "\n")
	}
	return out.Flush()
}
