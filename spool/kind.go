package spool

import (
	"slices"
	"strconv"
)

// A Kind is what a handoff asks for.
type Kind string

// The kinds. A conclusion is the reverse handoff that ends a task.
const (
	Task         Kind = "task"         // exactly one conclusion comes back
	Notification Kind = "notification" // nothing comes back
	Conclusion   Kind = "conclusion"   // it says how a task ended
)

// ParseKind returns s as a Kind; the error is ErrValue.
func ParseKind(s string) (Kind, error) {
	if k := Kind(s); k == Task || k == Notification || k == Conclusion {
		return k, nil
	}
	return "", &Error{Op: "kind", Name: s, Err: Because(ErrValue, "a kind is task, notification or conclusion")}
}

// An Ending is the word of a conclusion: how a task ended.
type Ending string

// The endings.
const (
	Done       Ending = "done"
	Blocked    Ending = "blocked"
	NeedsInput Ending = "needs-input" // ends the task too: the answer comes as a new one
)

// ParseEnding returns s as an Ending; the error is ErrValue.
func ParseEnding(s string) (Ending, error) {
	if e := Ending(s); e == Done || e == Blocked || e == NeedsInput {
		return e, nil
	}
	return "", &Error{Op: "conclusion", Name: s, Err: Because(ErrValue, "a conclusion is done, blocked or needs-input")}
}

// A Place is where in a mailbox a handoff stands.
type Place string

// The places, from left to right; Bad lies beside them.
const (
	New      Place = "new"  // queued
	Cur      Place = "cur"  // a receiver has it: delivered
	Work     Place = "work" // a task that was taken and owes its conclusion
	Finished Place = "done" // finished
	Bad      Place = "bad"  // set aside
)

// Places are all places in the order in which a handoff may move and a reader
// scans: a mover is then seen twice, never missed.
var Places = []Place{New, Cur, Work, Finished, Bad}

// ParsePlace returns s as a Place; the error is ErrValue.
func ParsePlace(s string) (Place, error) {
	if p := Place(s); slices.Contains(Places, p) {
		return p, nil
	}
	return "", &Error{Op: "state", Name: s, Err: Because(ErrValue, "a state is new, cur, work, done or bad")}
}

// rightOf tells whether p lies to the right of o.
func (p Place) rightOf(o Place) bool { return slices.Index(Places, p) > slices.Index(Places, o) }

// An Outcome is what can honestly be claimed of one handoff.
type Outcome string

// The outcomes.
const (
	Queued       Outcome = "queued"        // on disk in new/, nobody has it yet
	Held         Outcome = "held"          // the same, and the peer is on hold
	Delivered    Outcome = "delivered"     // seen in cur/, work/ or done/
	Refused      Outcome = "refused"       // set aside whole, or turned down
	Unknown      Outcome = "unknown"       // written, but where it is now cannot be told
	NotDelivered Outcome = "not-delivered" // nothing was written
)

// A Label is a word that a sender puts on a handoff for others to filter by.
type Label string

const maxLabel = 64 // bytes

// MaxLabels is how many labels a handoff has at most.
const MaxLabels = 16

// ParseLabel returns s as a Label: 1 to 64 of letters, digits and . _ - : / + = @.
// The error is ErrValue.
func ParseLabel(s string) (Label, error) {
	ok := s != "" && len(s) <= maxLabel
	for i := 0; ok && i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '.', c == '_', c == '-', c == ':', c == '/', c == '+', c == '=', c == '@':
		default:
			ok = false
		}
	}
	if !ok {
		return "", &Error{Op: "label", Name: s, Err: Because(ErrValue, "a label is 1 to "+strconv.Itoa(maxLabel)+" letters, digits and . _ - : / + = @")}
	}
	return Label(s), nil
}
