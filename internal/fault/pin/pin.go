// Package pin makes a program's file-system calls countable from outside.
//
// Importing it keeps main's goroutine on the process's first thread for good
// and marks in a system call trace where the runtime's own start-up ends.
// Only programs built for fault injection import it, under the build tag
// xfer_pin; see package fault.
package pin

import (
	"runtime"
	"syscall"
)

// marker is a path that is asked for and never there. Package fault knows it
// too, and cannot import it from here without being pinned itself.
const marker = "/xfer-pin-main-starts-here"

func init() {
	// A lock taken during initialization holds for main as well. strace counts
	// calls per thread, so a goroutine that wanders makes the count arbitrary.
	runtime.LockOSThread()
	_ = syscall.Access(marker, 0)
}
