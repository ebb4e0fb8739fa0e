// Package spool is the on-disk format and protocol of an xfer spool: a
// directory through which peers hand documents to one another.
//
// A handoff is one immutable file. It is written in a mailbox's tmp/, synced,
// published into new/ by one rename that replaces nothing, and then moves
// only to the right: new, cur, work, done, or aside into bad. Every move
// after delivery is made under flock(2) on the handoff's own file, so a claim
// dies with its holder and no clock takes part in it.
//
// Goals: a handoff whose id was told is durable; it is handed out whole or
// not at all; it is never overwritten; what is said of it was read from the
// disk. Not goals: ordering between senders, exactly-once execution (a crash
// repeats work, it never loses it), and secrecy between programs of one user.
//
// Whatever lies in a spool is hostile input, one's own spool included: a sync
// tool, another user's program or a half-finished copy may have put it there.
//
// Functions return a *Error that wraps one of the sentinels in errors.go.
// Nothing here prints, logs to a terminal or exits.
package spool
