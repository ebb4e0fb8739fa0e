package tool

import (
	"errors"
	"slices"
	"syscall"

	"xfer/spool"
)

// The sentinels of what only a program meets.
var (
	ErrUsage  = errors.New("usage")           // fix the call
	ErrOutput = errors.New("standard output") // what was written there did not arrive; nothing was consumed
	ErrNoFile = errors.New("no such file")    // check the name of the body's file
)

// A Class is a kind of error to a caller: its name is stable, the words of the
// message are not.
type Class struct {
	Sentinel error  // found by errors.Is
	Name     string // in --json
	Status   int
	Hint     string // where the error brings none of its own; may be empty
}

// Classes is the one table from errors to exit statuses, in the order in which
// it is looked through.
func Classes() []Class {
	return []Class{
		// These say what became of the call, whatever system error they wrap.
		{spool.ErrUnknown, "unknown", 79, "'xfer-inbox status ID' tells what became of it; do not send it anew"},
		{ErrOutput, "output", 74, ""},

		{ErrUsage, "usage", 64, ""},
		{spool.ErrName, "bad-name", 64, ""},
		{spool.ErrID, "bad-id", 64, ""},
		{spool.ErrAmbiguous, "ambiguous-id", 64, "type more of the id"},
		{spool.ErrValue, "bad-value", 64, ""},
		{spool.ErrTooLarge, "too-large", 64, "XFER_MAX_BYTES sets the limit"},
		{spool.ErrNotATask, "not-a-task", 64, ""},
		{spool.ErrIsATask, "is-a-task", 64, "'xfer-inbox conclude ID done' ends a task"},

		{spool.ErrMalformed, "malformed", 65, ""},
		{spool.ErrIncomplete, "incomplete", 65, ""},
		{spool.ErrBrokenCard, "broken-card", 65, ""},
		{spool.ErrNoBlock, "no-block", 65, ""},
		{spool.ErrNotText, "not-text", 65, ""},

		{ErrNoFile, "no-file", 66, ""},
		{spool.ErrNoHandoff, "no-handoff", 66, ""},
		{spool.ErrNoCard, "no-card", 66, ""},
		{spool.ErrNoEntry, "no-entry", 66, ""},
		{spool.ErrNoPeer, "no-peer", 67, ""},

		{spool.ErrConflict, "conflict", 73, ""},
		{spool.ErrConcluded, "concluded", 73, ""},
		{spool.ErrTaken, "taken", 73, ""},
		{spool.ErrCardExists, "card-exists", 73, ""},
		{spool.ErrNotMerged, "not-merged", 73, ""},

		{spool.ErrLocked, "locked", 75, ""},
		{spool.ErrFull, "full", 75, ""},

		{spool.ErrOwner, "owner", 77, ""},
		{spool.ErrModes, "modes", 77, ""},
		{spool.ErrElsewhere, "elsewhere", 77, ""},
		{spool.ErrRefused, "refused", 77, ""},

		{spool.ErrNoSpool, "no-spool", 78, "set XFER_SPOOL or give --spool DIR"},
		{spool.ErrVersion, "version", 78, "use the xfer that wrote it, or a newer one"},
		{spool.ErrConfig, "config", 78, ""},

		{syscall.ENOSPC, "no-space", 75, "make room and try again"},
		{syscall.EDQUOT, "no-space", 75, "make room and try again"},
		{syscall.EACCES, "permission", 77, ""},
		{syscall.EPERM, "permission", 77, ""},
		{syscall.EROFS, "permission", 77, ""},
		{spool.ErrOwnFile, "own-file", 78, ""}, // one that may not be read is of the class of what forbids it
	}
}

// anyOther is the class of an error that is in no other.
var anyOther = Class{Name: "io", Status: 74}

// ClassOf is the class of err; "io" where no other fits.
func ClassOf(err error) Class {
	for _, c := range Classes() {
		if errors.Is(err, c.Sentinel) {
			return c
		}
	}
	return anyOther
}

// A Status is one exit status and what it means, in every program.
type Status struct {
	Code    int
	Word    string // for a help text
	Meaning string // for a manual page
}

// Statuses are all that a program exits with, in numerical order.
func Statuses() []Status {
	return []Status{
		{0, "done", "done, yes"},
		{1, "nothing found", "a take, await, watch or wait found nothing in its time"},
		{2, "crashed", "never chosen: what a Go panic exits with"},
		{64, "usage", "usage: flags, arguments, a name or id outside its grammar"},
		{65, "malformed", "malformed or altered bytes on disk"},
		{66, "no such handoff", "no such file, handoff, card"},
		{67, "no such peer", "no such peer"},
		{73, "already there", "already there: id or key with other content, card, second conclusion"},
		{74, "input/output", "input/output"},
		{75, "try again", "try again: lock or name held, disk full, mailbox full"},
		{77, "permission", "permission: modes, ownership, policy, or a mailbox that another host works"},
		{78, "configuration", "configuration: no spool, newer format, relative $XFER_SPOOL"},
		{79, "outcome unknown", "outcome unknown: written, whereabouts cannot be told"},
		{80, "blocked", "the awaited task was concluded blocked"},
		{81, "needs-input", "the awaited task was concluded needs-input"},
	}
}

// anyVerb are the statuses that a Verb need not list.
var anyVerb = []int{0, 64, 74, 77, 78}

// Statuses are those that one of its verbs may exit with.
func (p *Program) Statuses() []Status {
	own := slices.Clone(anyVerb)
	for _, v := range p.Verbs {
		own = append(own, v.Statuses...)
	}
	return slices.DeleteFunc(Statuses(), func(s Status) bool { return !slices.Contains(own, s.Code) })
}
