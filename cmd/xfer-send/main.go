// Neither is worth its time in a process that lives for milliseconds.
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// xfer-send delivers a document to one or more peers: durably, into their
// mailboxes, without a server, and prints the id under which its fate can be
// asked. A task can be awaited until its conclusion comes back.
package main

import (
	"xfer/internal/command"
	"xfer/internal/tool"
)

func main() { tool.Main(command.Send()) }
