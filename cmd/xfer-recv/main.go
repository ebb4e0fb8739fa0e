// Neither is worth its time in a process that lives for milliseconds.
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// xfer-recv holds a name and receives what is sent to it: each handoff is
// announced on a line and then stands in cur/, where xfer-inbox take finds it.
// No two receivers on one machine hold the same name.
package main

import (
	"xfer/internal/command"
	"xfer/internal/tool"
)

func main() { tool.Main(command.Recv()) }
