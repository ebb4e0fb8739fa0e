// Package boardcmd is xfer-board. It stands apart so that the other programs do
// not start with a YAML library in them.
package boardcmd

import (
	"errors"
	"strconv"
	"time"

	"xfer/internal/command"
	"xfer/internal/tool"
	"xfer/spool"
	"xfer/spool/board"
)

// Board is xfer-board.
func Board() *tool.Program {
	return &tool.Program{
		Name:    "xfer-board",
		About:   "Keep cards: Markdown files that many hands append to without losing a line.",
		Default: "list",
		Verbs: []*tool.Verb{
			cardsVerb(), cardCreateVerb(), cardShowVerb(), appendVerb(), editVerb(),
			unreadVerb(), cardSeenVerb(), cardWatchVerb(), cardRemoveVerb(),
		},
	}
}

// A boarder is a caller at the board.
type boarder struct {
	*command.Caller
	b *board.Board
}

func openBoard(c *tool.Call) (*boarder, error) { return atBoard(command.Open(c)) }

func atBoard(c *command.Caller, err error) (*boarder, error) {
	if err != nil {
		return nil, err
	}
	return &boarder{c, board.Open(c.Spool)}, nil
}

// cards reads arguments as cards.
func cards(arguments []string) ([]board.CardID, error) {
	var all []board.CardID
	for _, arg := range arguments {
		id, err := board.ParseCardID(arg)
		if err != nil {
			return nil, err
		}
		all = append(all, id)
	}
	return all, nil
}

// cardError adds where a broken file lies, and for a card that is not there one
// that is near or the way to all of them.
func (c *boarder) cardError(id board.CardID, err error) error {
	if at := (*board.PathError)(nil); errors.As(err, &at) && errors.Is(err, spool.ErrBrokenCard) {
		return tool.WithHint(err, "it lies at "+at.Path)
	}
	if !errors.Is(err, spool.ErrNoCard) {
		return err
	}
	all, _, lerr := c.b.List(c.Ctx)
	if lerr != nil {
		return err
	}
	var names []string
	for _, card := range all {
		names = append(names, string(card.ID))
	}
	if near := tool.Near(string(id), names); near != "" && near != string(id) {
		return tool.WithHint(err, "did you mean "+strconv.Quote(near)+"? 'xfer-board list' lists them")
	}
	return tool.WithHint(err, "'xfer-board list' lists them")
}

// A cardRecord is a card on standard output.
type cardRecord struct {
	ID        board.CardID `json:"id"`
	Entries   int          `json:"entries"`
	UpdatedAt *time.Time   `json:"updated_at,omitempty"`
	Title     string       `json:"title,omitempty"`
	CreatedBy string       `json:"created_by,omitempty"`
	CreatedAt *time.Time   `json:"created_at,omitempty"`
	Unread    int          `json:"unread"`
}

// Fields shows no count of what is unread: that is what unread is for.
func (r *cardRecord) Fields() []any {
	var at time.Time
	if r.UpdatedAt != nil {
		at = *r.UpdatedAt
	}
	return []any{string(r.ID), r.Entries, at, r.Title}
}

func (c *boarder) record(card *board.Card, seen *board.Cursor) *cardRecord {
	return &cardRecord{ID: card.ID, Entries: card.Size(), UpdatedAt: told(card.UpdatedAt()), Title: card.Title,
		CreatedBy: card.CreatedBy, CreatedAt: told(card.CreatedAt), Unread: len(seen.Unread(card, c.Name))}
}

// told is a time as an object tells it, where there is one.
func told(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

// An entryRecord is an entry on standard output. Its text is in objects only.
type entryRecord struct {
	Card   board.CardID `json:"card"`
	ID     spool.ID     `json:"id"`
	Type   string       `json:"type"`
	Author string       `json:"author"`
	At     time.Time    `json:"at"`
	Text   string       `json:"text"`
}

func (r *entryRecord) Fields() []any {
	return []any{string(r.Card), string(r.ID), r.Type, r.Author, r.At}
}

func newEntryRecord(card board.CardID, e *board.Entry) *entryRecord {
	return &entryRecord{Card: card, ID: e.ID, Type: e.Type, Author: e.Author, At: e.At.UTC(), Text: e.Text()}
}
