package tool

import "strconv"

type exit int

func (e exit) Error() string { return "exit status " + strconv.Itoa(int(e)) }

// Exit is an error that ends a program with status and without a word: what
// it means was said already, or the status says it all.
func Exit(status int) error { return exit(status) }

// Failures takes what goes wrong with one of several inputs, so that the
// others still have their turn.
type Failures struct {
	call   *Call
	status int
}

// Failures is a new collection for this call.
func (c *Call) Failures() *Failures { return &Failures{call: c} }

// Add says err at once, on a line of its own, and keeps its status if it is
// the first; nil is nothing.
func (f *Failures) Add(err error) {
	status := account(f.call.Ctx, f.call.Err, err)
	if f.status == 0 {
		f.status = status
	}
}

// Err is nil where nothing went wrong, else a silent exit with the first
// failure's status.
func (f *Failures) Err() error {
	if f.status == 0 {
		return nil
	}
	return Exit(f.status)
}
