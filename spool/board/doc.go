// Package board is the cards of a spool: Markdown files that many hands and
// several machines append to without losing a line.
//
// A card is YAML front matter, free text, and entries, each under a heading of
// its own. It stays a file that a person reads and edits: what this package
// does not understand (keys, prose, the entries of other tools) it keeps.
//
// Nothing about a card is locked against those who take no lock: an editor, a
// sync tool. So two versions of a card can always be joined, and the join is
// commutative, associative and idempotent: whatever the order in which hosts
// meet the versions, they end with the same bytes.
//
//   - Entries are a set by id, in the order of their ids. Two texts under one
//     id are both kept.
//   - Free text is a set of blocks, each under the entry that it follows.
//   - Of two front matters the one with the earlier created_at stands, then
//     the lesser bytes.
//   - What was removed leaves its id in the gone line, and that wins.
//   - A text that begins another one of the same heading is in it already.
//
// A change locks the card, reads it, and swaps the new version in for what it
// read. Where something else comes out, somebody without a lock was faster, and
// both are joined. So a reader sees the old card or the new one, whole, and
// needs no lock.
//
// Nothing here prints, logs or exits. Errors are *spool.Error around a sentinel
// of this package, of package spool, or an error of the system.
package board
