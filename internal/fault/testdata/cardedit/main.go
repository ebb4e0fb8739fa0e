// Cardedit edits a card as "xfer-board edit" does, with a replacement of words
// in the place of an editor: a child's file-system calls could not be counted.
//
//	cardedit SPOOL CARD OLD NEW
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"xfer/spool"
	"xfer/spool/board"
)

// The statuses of the faults, as in package tool.
var statuses = []struct {
	err    error
	status int
}{{spool.ErrUnknown, 79}, {syscall.ENOSPC, 75}, {syscall.EACCES, 77}}

func main() {
	err := edit(os.Args[1], board.CardID(os.Args[2]), os.Args[3], os.Args[4])
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "cardedit: "+err.Error())
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			os.Exit(s.status)
		}
	}
	os.Exit(74)
}

func edit(dir string, id board.CardID, before, after string) error {
	s, err := spool.Open(dir, spool.NewSystem())
	if err != nil {
		return err
	}
	e, err := board.Open(s).Edit(context.Background(), id)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(e.Path)
	if err == nil {
		err = os.WriteFile(e.Path, []byte(strings.Replace(string(text), before, after, 1)), 0o600)
	}
	if err != nil {
		return err
	}
	_, err = e.Finish(context.Background())
	return err
}
