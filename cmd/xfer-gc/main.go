// Neither is worth its time in a process that lives for milliseconds.
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// xfer-gc clears away what a spool does not need any more, silently, as cron
// wants it, and tells with doctor what is wrong with a spool and what to type.
// It never removes a whole handoff that is not finished.
package main

import (
	gccmd "xfer/internal/command/gc"
	"xfer/internal/tool"
)

func main() { tool.Main(gccmd.GC()) }
