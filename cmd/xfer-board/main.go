// Neither is worth its time in a process that lives for milliseconds.
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// xfer-board keeps cards: Markdown files that many hands and several machines
// append to without losing a line. Nothing about a card has a life cycle, and it
// can be edited as the file that it is.
package main

import (
	boardcmd "xfer/internal/command/board"
	"xfer/internal/tool"
)

func main() { tool.Main(boardcmd.Board()) }
