package board

import (
	"errors"

	"xfer/spool"
)

// errRemoved is a spool.ErrNoCard.
var errRemoved = spool.Because(spool.ErrNoCard, "the card was removed")

// A PathError is an error with the file it is about.
type PathError struct {
	Path string
	Err  error
}

func (e *PathError) Error() string { return e.Err.Error() }
func (e *PathError) Unwrap() error { return e.Err }

// onCard says what was tried on which card.
func onCard(op string, id CardID, err error) error {
	if e := (*spool.Error)(nil); err == nil || errors.As(err, &e) && e.Op != "" {
		return err
	}
	return &spool.Error{Op: op, Name: string(id), Err: err}
}
