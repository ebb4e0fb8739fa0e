//go:build xfer_pin

package spool

// Of each there is one where each system call is to be made by the main thread,
// to be counted: see package fault.
const syncTogether, groupsAtOnce = 1, 1
