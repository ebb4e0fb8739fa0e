// Neither is worth its time in a process that lives for milliseconds.
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// xfer-inbox reads and works a mailbox: it lists and shows what came in, takes
// handoffs out whole, concludes tasks exactly once, and says what is known of
// any handoff.
package main

import (
	"xfer/internal/command"
	"xfer/internal/tool"
)

func main() { tool.Main(command.Inbox()) }
