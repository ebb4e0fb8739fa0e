//go:build !xfer_pin

package spool

// syncTogether is how many fsyncs are under way at once: beyond it a disk has
// no more to merge (spool.md, "What durable means here").
const syncTogether = 32
