package board

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"syscall"
	"time"

	"xfer/internal/durable"
	"xfer/spool"
)

// A Board is the cards of one spool. Its methods may be called from several
// goroutines.
type Board struct {
	h spool.BoardHost

	// Tests stand between the steps of a change with these.
	beforeSwap func(CardID)
}

// lockWait is how long a card's lock is waited for. Whoever holds it writes one
// file, but there may be a queue.
const lockWait = 3 * time.Second

// Open is the board of s. It does no I/O.
func Open(s *spool.Spool) *Board { return &Board{h: s.BoardHost()} }

func cardFile(id CardID) string { return string(id) + ".md" }
func lockName(id CardID) string { return "card." + string(id) }

// Path is where a card lies.
func (b *Board) Path(id CardID) string { return b.h.File(cardFile(id)) }

func (b *Board) lock(ctx context.Context, id CardID) (unlock func(), err error) {
	return b.h.Lock(ctx, lockName(id), lockWait)
}

// readCard reads the file at path as the card id. Where nothing is there both
// results are nil. The error is a *PathError around spool.ErrBrokenCard or an error
// of the system.
func readCard(path string, id CardID) (*Card, []byte, error) {
	data, err := readData(path)
	if err != nil || data == nil {
		return nil, nil, err
	}
	c, err := parseCard(path, id, data)
	return c, data, err
}

// readData is the file at path, nil where nothing is there. A writer may swap it
// between the two looks that opening takes.
func readData(path string) ([]byte, error) {
	var data []byte
	err := durable.ErrReplaced
	for range maxRounds {
		if data, err = durable.ReadRegular(path, maxCard); !errors.Is(err, durable.ErrReplaced) {
			break
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, durable.ErrNotRegular):
		err = broken("it is not a regular file")
	case errors.Is(err, syscall.EFBIG):
		err = broken("it has more than " + strconv.Itoa(maxCard) + " bytes")
	}
	if err != nil {
		return nil, &PathError{path, err}
	}
	return data, nil
}

func parseCard(path string, id CardID, data []byte) (*Card, error) {
	c, body, err := parseHead(path, id, data)
	if err != nil {
		return nil, err
	}
	c.readBody(body)
	return c, nil
}

// parseHead is parseCard without the body, which is returned as it is.
func parseHead(path string, id CardID, data []byte) (c *Card, body string, err error) {
	c, body, err = parseFront(string(data))
	if err == nil && c.ID != id {
		err = broken("its id is " + strconv.Quote(string(c.ID)) + ", and its name says " + strconv.Quote(string(id)))
	}
	if err != nil {
		return nil, "", &PathError{path, err}
	}
	return c, body, nil
}

// Read is the card id, without a lock: the old version or the new one of any
// change. Conflict copies of it are merged first. The errors are spool.ErrNoCard,
// spool.ErrBrokenCard as a *PathError, and where there is something to merge
// spool.ErrLocked.
func (b *Board) Read(ctx context.Context, id CardID) (*Card, error) {
	c, _, err := b.Show(ctx, id)
	return c, err
}

// Show is Read, with the bytes as they lie on disk.
func (b *Board) Show(ctx context.Context, id CardID) (*Card, []byte, error) {
	names, err := b.names()
	if err != nil {
		return nil, nil, onCard("read card", id, err)
	}
	return b.read(ctx, id, names)
}

func (b *Board) read(ctx context.Context, id CardID, names *listing) (*Card, []byte, error) {
	if len(names.copies[id]) > 0 {
		if err := b.Settle(ctx, id); err != nil {
			return nil, nil, onCard("read card", id, err)
		}
	}
	c, data, err := readCard(b.Path(id), id)
	switch {
	case err != nil:
	case c == nil:
		err = spool.ErrNoCard
	case c.Removed():
		err = errRemoved
	}
	if err != nil {
		return nil, nil, onCard("read card", id, err)
	}
	return c, data, nil
}
