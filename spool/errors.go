package spool

import (
	"errors"
	"strconv"
	"strings"
)

// The sentinels. Each says what a caller should do about it; the programs map
// each to one exit status and one class.
var (
	// Fix the call.
	ErrName      = errors.New("not a name")                    // outside NAME's grammar
	ErrID        = errors.New("not an id")                     // outside ID's grammar
	ErrAmbiguous = errors.New("more than one id fits")         // type more of it
	ErrValue     = errors.New("not a value for a header")      // control bytes, or too long
	ErrTooLarge  = errors.New("body over the limit")           // make it smaller or raise the limit
	ErrNotATask  = errors.New("not a task")                    // only a task is concluded or released
	ErrIsATask   = errors.New("a task ends by its conclusion") // conclude it instead

	// Look at the file.
	ErrMalformed  = errors.New("malformed")  // it breaks the format, and no more bytes would mend it
	ErrIncomplete = errors.New("incomplete") // shorter than it says, or its bytes are not yet those of its digest

	ErrBrokenCard = errors.New("broken card")          // its front matter cannot be read
	ErrNoBlock    = errors.New("no board-entry block") // nothing was written
	ErrNotText    = errors.New("not text")             // an entry is UTF-8 without NUL, and not empty

	// Check the name.
	ErrNoHandoff = errors.New("no such handoff")
	ErrNoPeer    = errors.New("no such peer")
	ErrNoCard    = errors.New("no such card")
	ErrNoEntry   = errors.New("no such entry")

	// Choose another.
	ErrConflict  = errors.New("already there with other content")
	ErrConcluded = errors.New("already concluded otherwise") // the first conclusion stands
	ErrTaken     = errors.New("already taken")

	ErrCardExists = errors.New("card already there")
	ErrNotMerged  = errors.New("not merged whole") // the edited copy is kept, with what is not in the card

	// Try again later.
	ErrLocked = errors.New("locked")
	ErrFull   = errors.New("full") // the mailbox has as many queued as its policy allows

	// Fix permissions, or go where it is allowed.
	ErrOwner     = errors.New("owned by another user")
	ErrModes     = errors.New("open to other users")
	ErrElsewhere = errors.New("worked by another host")
	ErrRefused   = errors.New("refused")

	// Set it right.
	ErrNoSpool = errors.New("not a spool")
	ErrVersion = errors.New("format not known to this program")
	ErrConfig  = errors.New("configuration")
	ErrOwnFile = errors.New("a file of local/ that cannot be read") // doctor --repair writes it anew

	// Ask what became of it; do not send anew.
	ErrUnknown = errors.New("outcome unknown")
)

// An Error says what was being done, to what, and why it could not be done.
type Error struct {
	Op   string // what was tried: "send to", "take", "open spool"
	Name string // the name, id or path it was tried on, as the user typed it; may be empty
	Err  error  // the cause; wraps a sentinel of this package or a system error
	Hint string // a command or setting that mends it; may be empty
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op)
		if e.Name != "" {
			b.WriteByte(' ')
			b.WriteString(strconv.Quote(e.Name))
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// because is a sentinel with the particulars of one case: its text is the
// particulars, and errors.Is finds the sentinel.
type because struct {
	is   error
	text string
}

func (b *because) Error() string { return b.text }
func (b *because) Unwrap() error { return b.is }

// Because gives sentinel the particulars of one case: the text is what is
// shown, the sentinel is what errors.Is finds.
func Because(sentinel error, text string) error { return &because{sentinel, text} }
