package tool

import (
	"errors"

	"xfer/spool"
)

// WithHint is err with a command or setting that mends it. It takes the place
// of any hint that err has already; an empty one leaves err as it is.
func WithHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return &hinted{err, hint}
}

type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// hintOf is the outermost hint in err, else that of its class.
func hintOf(err error, c Class) string {
	if hint := ownHint(err); hint != "" {
		return hint
	}
	return c.Hint
}

func ownHint(err error) string {
	switch e := err.(type) { //nolint:errorlint // the outermost first
	case *hinted:
		return e.hint
	case *spool.Error:
		if e.Hint != "" {
			return e.Hint
		}
	}
	switch e := err.(type) { //nolint:errorlint // one step inward
	case interface{ Unwrap() error }:
		if in := e.Unwrap(); in != nil {
			return ownHint(in)
		}
	case interface{ Unwrap() []error }:
		for _, in := range e.Unwrap() {
			if hint := ownHint(in); hint != "" {
				return hint
			}
		}
	}
	return ""
}

// failure is an error as --json tells it.
type failure struct {
	Error  string `json:"error"`
	Class  string `json:"class"`
	Status int    `json:"status"`
	Hint   string `json:"hint,omitempty"`
}

// Report says err on standard error: one line, and a second one where there
// is a hint; with --json one object. Neither -q nor --json mutes it.
func (t *Talk) Report(err error) {
	class := ClassOf(err)
	hint := t.reachingAll(hintOf(err, class))
	if errors.Is(err, ErrOutput) {
		t.mu.Lock()
		t.lost = true
		t.mu.Unlock()
	}
	if t.json {
		line, err := JSON(failure{err.Error(), class.Name, class.Status, hint})
		if err == nil {
			t.write(string(line))
		}
		return
	}
	text := t.program + ": " + Clean(err.Error()) + "\n"
	if hint != "" {
		text += t.program + ": hint: " + Clean(hint) + "\n"
	}
	t.write(text)
}
