//go:build !xfer_pin

package spool

const (
	// syncTogether is how many fsyncs are under way at once: beyond it a disk
	// has no more to merge (spool.md, "What durable means here").
	syncTogether = 32
	// groupsAtOnce is one for each stage of a batch's group.
	groupsAtOnce = 3
)
