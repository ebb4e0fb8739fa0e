package spool

import (
	"errors"
	"fmt"
	"time"
)

// A task that was let go is remembered by its id alone. Whoever concludes it
// once more is answered from its conclusion, or from what is remembered of
// that.

// letGo tells whether a segment of the mailbox remembers id as handled.
func (m *Mailbox) letGo(id ID) (bool, error) {
	f, found, err := m.folded(id)
	return err == nil && found && f.Last.Handled(), err
}

// letGoTask is what can be told of the header of a task of this mailbox that
// was concluded and let go. The error is none where nothing of that is known,
// and ErrConcluded where it is not known to whom the conclusion went.
func (m *Mailbox) letGoTask(id ID, none error) (*Header, error) {
	gone, err := m.letGo(id)
	if err != nil {
		return nil, err
	}
	if !gone {
		return nil, none
	}
	task := &Header{ID: id, Kind: Task, To: m.name}
	l, err := m.s.Locate(id.Conclusion())
	switch {
	case errors.Is(err, ErrNoHandoff):
		return nil, none
	case err != nil:
		return nil, err
	case l.Header != nil:
		if task.From = l.Header.To; l.Header.ends(task) {
			return task, nil
		}
	case l.Folded != nil && l.Folded.Last.Ending() != "":
		task.From = l.Peer
		if l.Peer != m.name || l.Folded.Last.Place() != Bad {
			return task, nil
		}
		return nil, l.Folded.conclusion(task).stands()
	}
	return nil, none
}

// stands is ErrConcluded: h, the conclusion of a task, was there first.
func (h *Header) stands() error {
	text := fmt.Sprintf("it was concluded %s by %s", h.Ending, h.ID)
	if !h.Date.IsZero() { // else a segment remembers it
		text += fmt.Sprintf(" at %s, with %d bytes", h.Date.UTC().Format(time.RFC3339), h.Size)
	}
	return Because(ErrConcluded, text+", and that stands")
}
