package board

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"xfer/spool"
)

// MaxTitle is the most characters that a title has.
const MaxTitle = 200

// ParseTitle returns s as a title: one line of text that is not empty. The
// error is spool.ErrValue.
func ParseTitle(s string) (string, error) {
	s = strings.TrimSpace(s)
	var why string
	switch n := utf8.RuneCountInString(s); {
	case s == "":
		why = "a title cannot be empty"
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		why = "a title is one line without control characters"
	case n > MaxTitle:
		why = "it has " + strconv.Itoa(n) + " characters, and the limit is " + strconv.Itoa(MaxTitle)
	default:
		return s, nil
	}
	return "", &spool.Error{Op: "title", Name: clip(s), Err: spool.Because(spool.ErrValue, why)}
}

// maxMints is how often an id is minted anew, where the one before was taken.
const maxMints = 8

// Create makes a card, durably; with an empty id one is minted. Drafts are its
// first entries. The errors are spool.ErrCardExists, for one that was removed too,
// those of Draft.Check, spool.ErrLocked and spool.ErrUnknown.
func (b *Board) Create(ctx context.Context, id CardID, title string, author spool.Name, drafts ...Draft) (*Card, []Appended, error) {
	for i := range drafts {
		if err := drafts[i].Check(); err != nil {
			return nil, nil, err
		}
	}
	if id != "" {
		return b.create(ctx, id, title, author, drafts)
	}
	for range maxMints {
		id, err := mintCardID(b.h.Rand())
		if err != nil {
			return nil, nil, err
		}
		c, all, err := b.create(ctx, id, title, author, drafts)
		if !errors.Is(err, spool.ErrCardExists) {
			return c, all, err
		}
	}
	return nil, nil, spool.Because(spool.ErrCardExists, "every id that was tried is taken")
}

func (b *Board) create(ctx context.Context, id CardID, title string, author spool.Name, drafts []Draft) (made *Card, all []Appended, err error) {
	err = b.change(ctx, id, func(c *Card) (*Card, error) {
		switch {
		case c != nil && c.Removed():
			return nil, spool.Because(spool.ErrCardExists, "a card of that name was removed")
		case c != nil:
			return nil, spool.ErrCardExists
		}
		made = &Card{ID: id, Title: title, CreatedBy: string(author), CreatedAt: b.h.Now().UTC().Truncate(time.Second)}
		if made.front, err = newFront(made); err != nil {
			return nil, err
		}
		for _, d := range drafts {
			a, next, err := b.appendTo(made, d)
			if err != nil {
				return nil, err
			}
			all = append(all, a)
			if next != nil {
				made = next
			}
		}
		return made, nil
	})
	return made, all, onCard("create", id, err)
}

// Remove empties a card: what is left says that it, and every entry it had, is
// gone, so that no late copy brings them back. An entry that the remover never
// saw brings it back, alone. The errors are those of Read and spool.ErrUnknown.
func (b *Board) Remove(ctx context.Context, id CardID) (title string, err error) {
	err = b.change(ctx, id, func(c *Card) (*Card, error) {
		switch {
		case c == nil:
			return nil, spool.ErrNoCard
		case c.Removed():
			return nil, errRemoved
		}
		title = c.Title
		next := c.clone()
		next.gone = append(next.gone, string(id))
		for _, e := range c.ids() {
			next.gone = append(next.gone, string(e))
		}
		next.normalize()
		return next, nil
	})
	return title, onCard("remove", id, err)
}
