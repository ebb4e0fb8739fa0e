//go:build xfer_pin

package spool

// syncTogether is one where each system call is to be made by the main thread,
// to be counted: see package fault.
const syncTogether = 1
