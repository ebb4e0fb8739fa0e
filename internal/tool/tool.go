// Package tool is what the five programs have in common: the order of flags
// and arguments over urfave/cli, help, signals, records on standard output,
// talk on standard error, and the one table from errors to exit statuses.
package tool

import (
	"context"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"xfer/spool"
)

// A Program is one of the five.
type Program struct {
	Name    string  // "xfer-send"
	About   string  // one line for the top of its help
	Verbs   []*Verb // a program without verbs has one, with an empty name
	Default string  // the verb that stands in where none is typed
}

// A Verb is one thing a program does, with what its help says.
type Verb struct {
	Name     string     // "take"; empty in a program without verbs
	Synopsis []string   // without the program's name: "take [flags] [ID]"
	About    string     // what it does, whether it blocks, whether it consumes; the list of verbs has the first sentence
	Flags    []cli.Flag // its own; the common ones are added. A word in `backquotes` in the usage names the value; a DurationFlag reads days too
	Min, Max int        // arguments; Max < 0: any number
	Dashes   bool       // what follows "--" is a command of the user's, kept apart in Call.Command
	Examples []string   // three whole command lines
	Statuses []int      // beyond 0, 64, 74, 77 and 78, which any program may exit with
	Run      func(*Call) error

	// Brief: it ends within moments. A signal ends it at once, as kill -9 does,
	// at any point of which the spool stays whole: to catch one takes two
	// threads, an eighth of a one-shot send's time (bench/RESULTS.md).
	Brief bool
}

// A Process is what a program gets from the system. Tests make their own.
type Process struct {
	Args   []string // with the program's name first
	Stdin  *os.File
	Stdout *os.File
	Stderr *os.File
	System *spool.System

	// After is time.After where it is nil; tests bring time to pass with it.
	After func(time.Duration) <-chan time.Time

	signal func() // begins to catch signals; nil where Main does not run
}

// A Call is one run of a verb.
type Call struct {
	*cli.Context                 // the flags
	Ctx          context.Context // ends at SIGINT or SIGTERM
	Process      *Process
	Program      string
	Verb         string   // its name; empty in a program without verbs
	Arguments    []string // the arguments, flags taken out, wherever they stood
	Command      []string // what followed "--", where the verb has Dashes

	Out *Output // records on standard output
	Err *Talk   // lines on standard error
}
