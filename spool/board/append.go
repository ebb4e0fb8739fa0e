package board

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"xfer/spool"
)

// MaxText is the most bytes that an entry's text has.
const MaxText = 1 << 20

// A Draft is an entry that is to be appended.
type Draft struct {
	Type   spool.Label
	Author spool.Name
	Text   string // blank lines around it are not kept
	Key    string // empty: none. The same author, card and key append once

	at time.Time // to the second, UTC
}

// An Appended says what became of a draft.
type Appended struct {
	Entry    Entry
	Title    string // of the card
	Created  bool   // with the card
	Replayed bool   // it was there before, by its key
	Removed  bool   // replayed, and it was removed since
}

// Check is nil where d can be appended. The errors are spool.ErrNotText, for what is
// empty too, and spool.ErrTooLarge.
func (d *Draft) Check() error {
	switch {
	case len(d.Text) > MaxText:
		err := spool.Because(spool.ErrTooLarge, "the entry has "+strconv.Itoa(len(d.Text))+" bytes, and the limit is "+strconv.Itoa(MaxText))
		return &spool.Error{Err: err, Hint: "send the document with xfer-send, and append what it is about"}
	case !utf8.ValidString(d.Text):
		return spool.Because(spool.ErrNotText, "the entry is not UTF-8")
	case strings.ContainsRune(d.Text, 0):
		return spool.Because(spool.ErrNotText, "the entry has a NUL byte")
	case trimBlank(d.Text) == "":
		return spool.Because(spool.ErrNotText, "the entry is empty")
	}
	return nil
}

// Append adds an entry to the card id, durably. The errors are those of Check
// and Read, spool.ErrConflict for a key that was used with another text or
// type, spool.ErrLocked, and spool.ErrUnknown where it may be written.
func (b *Board) Append(ctx context.Context, id CardID, d Draft) (a Appended, err error) {
	if err := d.Check(); err != nil {
		return a, onCard("append to", id, err)
	}
	err = b.changeText(ctx, id, func(c *change) error {
		if b.canTack(c, d) {
			a, err = b.tackOn(c, d)
			return err
		}
		card := c.parse()
		switch {
		case card == nil:
			return spool.ErrNoCard
		case card.Removed():
			return errRemoved
		}
		var next *Card
		if a, next, err = b.appendTo(card, d); next != nil {
			c.now = next
		}
		c.sure = a.Replayed // the first one may not have come that far
		return err
	})
	return a, onCard("append to", id, err)
}

// AppendOrCreate is Append, to a card that is made where there is none and the
// title is not empty. With an empty id one is minted, and told.
func (b *Board) AppendOrCreate(ctx context.Context, id CardID, title string, d Draft) (CardID, Appended, error) {
	for range maxMints {
		if id != "" {
			a, err := b.Append(ctx, id, d)
			if title == "" || !errors.Is(err, spool.ErrNoCard) {
				return id, a, err
			}
		}
		c, all, err := b.Create(ctx, id, title, d.Author, d)
		if err == nil {
			all[0].Created = true
			return c.ID, all[0], nil
		}
		if id == "" || !errors.Is(err, spool.ErrCardExists) {
			return id, Appended{}, err
		}
		// Made by another meanwhile; or removed, and then it stays so.
	}
	return id, Appended{}, onCard("append to", id, errRemoved)
}

// canTack tells whether the entry may be put behind the card as it stands,
// which need not be taken apart for that: nothing was merged, nothing is gone,
// and no other entry has to be looked at.
func (b *Board) canTack(c *change, d Draft) bool {
	return c.data != nil && c.now == nil && d.Key == "" && !strings.Contains(c.body, goneMark)
}

// tackOn is the card with one more entry behind it, every byte before it as it
// was. A clock that went back gets it its place between others.
func (b *Board) tackOn(c *change, d Draft) (a Appended, err error) {
	a, err = b.newAppended(c.head, d)
	if err != nil {
		return a, err
	}
	if last := lastEntry(c.body); last >= a.Entry.ID {
		c.now = c.parse().with(a.Entry)
		return a, nil
	}
	text := bytes.NewBuffer(make([]byte, 0, len(c.data)+len(a.Entry.heading)+len(a.Entry.raw)+8))
	text.Write(c.data)
	if c.data[len(c.data)-1] != '\n' {
		text.WriteByte('\n')
	}
	writeLines(text, a.Entry.heading)
	writeLines(text, a.Entry.raw)
	c.text = text.Bytes()
	return a, nil
}

// lastEntry is the id of the last entry in the body of a card, empty where it
// has none.
func lastEntry(body string) spool.ID {
	for end := len(body); end > 0; {
		at := strings.LastIndex(body[:end], headingMark)
		if at < 0 {
			break
		}
		line, _ := cutLine(body[at:])
		if e, ok := parseHeading(line); ok && (at == 0 || body[at-1] == '\n') {
			return e.ID
		}
		end = at
	}
	return ""
}

// appendTo is c with one more entry; the same card where the draft's key is
// known.
func (b *Board) appendTo(c *Card, d Draft) (a Appended, next *Card, err error) {
	if a, err = b.newAppended(c, d); err != nil {
		return a, nil, err
	}
	if d.Key != "" {
		if found, err := c.replay(&a); found || err != nil {
			return a, nil, err
		}
	}
	return a, c.with(a.Entry), nil
}

// with is c and one more entry; c is not to be used any more.
func (c *Card) with(e Entry) *Card {
	more := *c // Entries has room for one more
	more.Entries = append(more.Entries, e)
	more.normalize()
	return &more
}

// newAppended is the entry that d is to be on card c.
func (b *Board) newAppended(c *Card, d Draft) (a Appended, err error) {
	id, err := b.h.NewID()
	if err != nil {
		return a, err
	}
	d.at = b.h.Now().UTC().Truncate(time.Second)
	if d.Key != "" {
		id = id.Keyed(strings.Join([]string{string(d.Author), string(c.ID), d.Key}, "\n"))
	}
	return Appended{Entry: newEntry(&d, id), Title: c.Title}, nil
}

// replay looks for an entry of the same key as the one in a, which it then
// replaces.
func (c *Card) replay(a *Appended) (found bool, err error) {
	for _, e := range c.Entries {
		if !e.ID.SameKey(a.Entry.ID) {
			continue
		}
		if e.raw != a.Entry.raw || e.Type != a.Entry.Type {
			return false, spool.Because(spool.ErrConflict, "the key was used for entry "+string(e.ID)+", with another text")
		}
		a.Entry, a.Replayed = e, true
		return true, nil
	}
	for _, gone := range c.gone {
		if id, err := spool.ParseID(gone); err == nil && id.SameKey(a.Entry.ID) {
			a.Entry.ID, a.Replayed, a.Removed = id, true, true
			return true, nil
		}
	}
	return false, nil
}
