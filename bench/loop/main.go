// Loop runs one of the bare loops of package loops once, as a yardstick that is
// a process like the programs beside it.
//
//	loop drain MAILBOX
//	loop oldest DIR
//	loop batch MAILBOX COUNT < TEXT
//	loop append LOCK CARD < ENTRY
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"xfer/bench/loops"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "loop: %v\n", err)
		os.Exit(74)
	}
}

func run(args []string) error {
	verb := ""
	if len(args) > 0 {
		verb = args[0]
	}
	switch {
	case verb == "drain" && len(args) == 2:
		return loops.Drain(args[1])
	case verb == "oldest" && len(args) == 2:
		name, err := loops.Oldest(args[1])
		if err == nil {
			_, err = fmt.Fprintln(os.Stdout, name)
		}
		return err
	case verb == "batch" && len(args) == 3:
		count, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		return loops.Batch(args[1], text, os.Getpid(), count)
	case verb == "append" && len(args) == 3:
		return appendTo(args[1], args[2])
	}
	return errors.New("a loop and what it needs")
}

func appendTo(lock, card string) error {
	entry, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return loops.Append(f, card, string(entry))
}
