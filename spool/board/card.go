package board

import (
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"xfer/spool"
)

// A CardID names one card: a spool.Name, which is also the name of its file.
// Made by ParseCardID and in Create only.
type CardID string

const (
	mintedPrefix = "c-"
	mintedLen    = 6
	alphabet     = "0123456789abcdefghjkmnpqrstvwxyz"
)

// ParseCardID returns s as a CardID; the error is spool.ErrName with the rule
// it broke.
func ParseCardID(s string) (CardID, error) {
	if _, err := spool.ParseName(s); err != nil {
		var in *spool.Error
		if errors.As(err, &in) {
			err = in.Err
		}
		return "", &spool.Error{Op: "card", Name: s, Err: err}
	}
	return CardID(s), nil
}

// mintCardID takes six characters at random: a number that is one higher than
// the highest would be given twice by two hosts.
func mintCardID(r io.Reader) (CardID, error) {
	var b [mintedLen]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", err
	}
	for i := range b {
		b[i] = alphabet[int(b[i])%len(alphabet)]
	}
	return CardID(mintedPrefix + string(b[:])), nil
}

// A Card is one version of a card, in memory. Its zero value is no card.
type Card struct {
	ID        CardID
	Title     string
	CreatedBy string
	CreatedAt time.Time // zero where the front matter has none

	Entries []Entry // in the order of their ids; two with one id where texts differ

	front string // between the fences, as it stands
	free  []block
	gone  []string // ids of entries, and the card's own where it was removed; sorted
}

// An Entry is one section of a card.
type Entry struct {
	ID     spool.ID
	Type   string
	Author string
	At     time.Time

	heading string // the line without its end
	raw     string // the text as it stands in the file, escaped
}

// Text is the text as its author gave it, but for blank lines around it.
func (e *Entry) Text() string { return unescape(e.raw) }

// A block is a piece of free text. It stands under the last entry before it;
// under none, at the beginning.
type block struct {
	under spool.ID
	text  string
}

// Removed tells whether the card was removed, and nothing has come since.
func (c *Card) Removed() bool { return len(c.Entries) == 0 && c.isGone(string(c.ID)) }

func (c *Card) isGone(id string) bool {
	_, found := slices.BinarySearch(c.gone, id)
	return found
}

// UpdatedAt is the time of the newest entry; without entries, when the card was
// made.
func (c *Card) UpdatedAt() time.Time {
	at := c.CreatedAt
	for i := range c.Entries {
		if c.Entries[i].At.After(at) {
			at = c.Entries[i].At
		}
	}
	return at
}

// Size is how many entries there are; two texts under one id are one entry.
func (c *Card) Size() int {
	n := 0
	for i := range c.Entries {
		if i == 0 || c.Entries[i].ID != c.Entries[i-1].ID {
			n++
		}
	}
	return n
}

// Find returns the entries whose id is that of part: more than one where their
// texts differ. The errors are spool.ErrNoEntry and spool.ErrAmbiguous.
func (c *Card) Find(part spool.IDPart) ([]Entry, error) {
	var found []Entry
	for _, e := range c.Entries {
		if part.Fits(e.ID) {
			found = append(found, e)
		}
	}
	switch {
	case len(found) == 0:
		return nil, spool.ErrNoEntry
	case found[0].ID != found[len(found)-1].ID:
		var ids []string
		for _, e := range found[:min(len(found), 5)] {
			ids = append(ids, string(e.ID))
		}
		return nil, spool.Because(spool.ErrAmbiguous, "it fits "+strings.Join(ids, " "))
	}
	return found, nil
}
