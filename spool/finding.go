package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A Severity is how bad a finding is.
type Severity string

// The severities.
const (
	Note    Severity = "note"    // what a crash or another program leaves; it goes by itself or does no harm
	Warning Severity = "warning" // somebody should look at it
	Fault   Severity = "error"   // the format is broken
)

// A Mend is which program mends a finding.
type Mend string

// The programs that mend.
const (
	MendNone   Mend = ""
	MendGC     Mend = "gc"
	MendRepair Mend = "doctor --repair"
	MendPolicy Mend = "policy" // of Peer, written anew
	MendWait   Mend = "wait"   // until what brings it is done; in the end gc sets it aside
)

// A Finding is one thing that a check of a spool has to say.
type Finding struct {
	Severity Severity
	Check    string // the name of the check
	Path     string // below the spool, with slashes
	Message  Text
	Mend     Mend // by a program that runs on this host
	Peer     Name // whose mailbox, where Mend needs it
}

func (f Finding) String() string {
	return string(f.Severity) + " " + f.Check + " " + f.Path + ": " + f.Message.String()
}

// A Text is what a finding says. Only Say makes one, of a phrase that is a
// constant and of facts, so that it can hold no subject, body or label: there
// is no fact that is one.
type Text struct{ s string }

func (t Text) String() string { return t.s }

// A Fact is what a finding may tell beside its phrase: an id, a name, a place, a
// path, a figure, a moment, or the class of an error.
type Fact interface{ fact() string }

// A phrase is a constant: nothing outside this package can make one of a
// variable.
type phrase string

// Say is the phrase with its verbs %s replaced by the facts.
func Say(p phrase, facts ...Fact) Text {
	words := make([]any, len(facts))
	for i, f := range facts {
		words[i] = f.fact()
	}
	return Text{fmt.Sprintf(string(p), words...)}
}

// The facts that are no ids, names or places.
type (
	// A Figure is a number.
	Figure int64
	// A Path is a file's, below the spool or whole.
	Path string
	// A Moment is a time, told in UTC.
	Moment time.Time
	// A Setting is a value of this program's own: a line of .stignore, a mode.
	Setting string
	// A Cause is an error, of which its class is told and no more.
	Cause struct{ Err error }
)

func (n Figure) fact() string  { return fmt.Sprint(int64(n)) }
func (p Path) fact() string    { return printable(filepath.ToSlash(string(p))) }
func (m Moment) fact() string  { return time.Time(m).UTC().Format(time.RFC3339) }
func (s Setting) fact() string { return string(s) }
func (id ID) fact() string     { return string(id) }
func (n Name) fact() string    { return string(n) }
func (h Host) fact() string    { return string(h) }
func (k Kind) fact() string    { return string(k) }
func (p Place) fact() string   { return string(p) }

// classes are the errors that a cause can tell, and in which words.
var classes = []struct {
	err  error
	text string
}{
	{ErrIncomplete, "shorter than it says, or its bytes are not those of its digest"},
	{ErrMalformed, "it breaks the format"},
	{ErrNoPeer, "no such peer"},
	{fs.ErrNotExist, "it is not there"},
	{fs.ErrPermission, "permission denied"},
}

func (c Cause) fact() string {
	for _, class := range classes {
		if errors.Is(c.Err, class.err) {
			return class.text
		}
	}
	if errno := syscall.Errno(0); errors.As(c.Err, &errno) {
		return errno.Error()
	}
	if notRegular(c.Err) {
		return "not a regular file"
	}
	return "it cannot be read"
}

// below is path as a finding names it.
func (s *Spool) below(path string) Path {
	return Path(strings.TrimPrefix(path, s.dir+string(filepath.Separator)))
}
