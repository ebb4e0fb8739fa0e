package board

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"strconv"

	"xfer/internal/durable"
	"xfer/spool"
)

// A change of a card, step by step:
//
//	local/lock/card.CARD     locked, until the end
//	board/CARD.md            read; conflict copies and what a crash left are
//	                         joined to it
//	local/tmp/new.CARD.…     written, fsync
//	local/tmp/card.CARD.…    renamed: from here on the file is whole for good
//	board/CARD.md            exchanged with it, where there is no card published
//	local/tmp/card.CARD.…    what came out is compared with what was read;
//	                         anything else is joined in, from the third step on
//	board/                   fsync: only now is the change acknowledged
//	conflict copies, temp    removed
//
// A crash before the exchange leaves the old card and, at most, the new version
// beside it, which nobody was told of; after it, the new card and what came
// out. That is dropped where its digest is that of what the writer had read,
// else it is a version that somebody swapped in unseen, and is merged.

// maxRounds is how often a card may change under a change. A sync tool does so
// once.
const maxRounds = 100

// A change is one run of the above.
type change struct {
	b    *Board
	id   CardID
	data []byte   // the card as read; nil: there is none
	head *Card    // its front matter
	body string   // the rest of it
	old  *Card    // the whole of it, nil until it is parsed
	now  *Card    // what is to stand
	text []byte   // of now, where that is known without it, and now is nil
	done []string // files whose content stands in now
	temp string   // the staged version, then what the exchange brought out
	seen bool     // a reader may have seen what is to stand
	sure bool     // what stands is to be made durable, even where nothing changes
}

// change locks the card and replaces it by what do makes of it, nil meaning
// that it stays as it is; a card that is not there is nil. What was merged on
// the way is written in any case. When nil is returned the result is durable.
func (b *Board) change(ctx context.Context, id CardID, do func(*Card) (*Card, error)) error {
	return b.changeText(ctx, id, func(c *change) error {
		wanted, err := do(c.parse())
		if err == nil && wanted != nil {
			c.now = wanted
		}
		return err
	})
}

// changeText is change for a do that sets c.now or c.text itself.
func (b *Board) changeText(ctx context.Context, id CardID, do func(*change) error) error {
	unlock, err := b.lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	c := &change{b: b, id: id}
	if err := c.read(); err != nil {
		return err
	}
	if err = do(c); err != nil && len(c.done) == 0 {
		return err
	}
	if werr := c.write(); werr != nil {
		if c.seen {
			return &spool.Error{Op: "write card", Name: string(id), Err: spool.Because(spool.ErrUnknown, "it may be written: "+werr.Error()),
				Hint: "'xfer-board show " + string(id) + "' tells what it holds"}
		}
		return werr
	}
	return err
}

// read is the card and all that belongs to it. A conflict copy that cannot be
// read stays where it is, and is named by whoever lists the board.
func (c *change) read() (err error) {
	path := c.b.Path(c.id)
	if c.data, err = readData(path); err != nil {
		return err
	}
	if c.data != nil {
		if c.head, c.body, err = parseHead(path, c.id, c.data); err != nil {
			return err
		}
	}
	copies, err := c.copies()
	if err != nil {
		return err
	}
	left, err := c.left()
	if err != nil {
		return err
	}
	versions := append(copies, left...)
	if len(versions) == 0 {
		return nil
	}
	if old := c.parse(); old != nil {
		versions = append([]*Card{old}, versions...)
	}
	c.now = Join(versions[0], versions[1:]...)
	return nil
}

// parse is what the card is by now: as it was read, or with what was joined to
// it; nil where there is none.
func (c *change) parse() *Card {
	if c.now == nil && c.data != nil {
		c.head.readBody(c.body)
		c.old, c.now = c.head, c.head
	}
	return c.now
}

// copies are the versions in conflict copies.
func (c *change) copies() (versions []*Card, err error) {
	names, err := c.b.names()
	if err != nil {
		return nil, err
	}
	for _, name := range names.copies[c.id] {
		path := c.b.h.File(name)
		if v, _, err := readCard(path, c.id); err == nil && v != nil {
			versions = append(versions, v)
			c.done = append(c.done, path)
		}
	}
	return versions, nil
}

// left are the versions that a crash left, and that say something new.
func (c *change) left() (versions []*Card, err error) {
	left, err := c.b.leftovers(c.id)
	if err != nil {
		return nil, err
	}
	for _, l := range left {
		path := c.b.h.TempFile(l.name)
		v, data, err := readCard(path, c.id)
		switch {
		case data == nil:
			continue
		case digest(data) == l.read, digest(data) == l.wrote:
			// Nothing in it that the card has not, or that anybody was told of.
		case err != nil:
			continue
		default:
			versions = append(versions, v)
		}
		c.done = append(c.done, path)
	}
	return versions, nil
}

// write puts c.now in the place of what was read, and removes what went into
// it.
func (c *change) write() error {
	if c.text != nil || c.now != nil && c.now != c.old {
		if err := c.replace(); err != nil {
			return err
		}
	} else if len(c.done) == 0 && !c.sure {
		return nil
	}
	// What went into the card may go only after it is durable. Where it cannot
	// be removed the next change finds nothing new in it.
	if err := c.b.h.FS().SyncDir(c.b.h.Dir()); err != nil {
		return err
	}
	for _, path := range c.done {
		_ = durable.Remove(path)
	}
	return nil
}

func (c *change) replace() error {
	for range maxRounds {
		text := c.text
		if text == nil {
			text = c.now.Format()
		}
		if len(text) > maxCard {
			return spool.Because(spool.ErrTooLarge, "the card would have "+strconv.Itoa(len(text))+" bytes, and the limit is "+strconv.Itoa(maxCard))
		}
		if c.data != nil && string(text) == string(c.data) {
			return nil
		}
		if err := c.stage(text); err != nil {
			return err
		}
		if c.b.beforeSwap != nil {
			c.b.beforeSwap(c.id)
		}
		again, err := c.swap(text)
		if err != nil || !again {
			return err
		}
	}
	return spool.Because(spool.ErrLocked, "somebody else writes it over and over")
}

// stage writes text to a temp file under local/tmp/, whole before it has a name
// that anybody looks at.
func (c *change) stage(text []byte) error {
	suffix, err := c.b.h.Suffix()
	if err != nil {
		return err
	}
	fresh := c.b.h.TempFile("new." + string(c.id) + "." + suffix)
	c.temp = c.b.h.TempFile(lockName(c.id) + "." + digest(c.data) + digest(text) + suffix)
	err = c.b.h.Retry(func() error { return writeFile(c.b.h.FS(), fresh, text) })
	if err == nil {
		err = durable.Rename(fresh, c.temp)
	}
	if err != nil {
		_ = durable.Remove(fresh)
	}
	return err
}

func writeFile(d *durable.FS, path string, text []byte) error {
	f, err := d.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = d.Sync(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// swap gives the card the staged version. again: somebody was faster, what they
// wrote is joined to c.now, and that is to be swapped in next.
func (c *change) swap(text []byte) (again bool, err error) {
	path := c.b.Path(c.id)
	if c.data == nil {
		err = c.b.h.Retry(func() error { return durable.Publish(c.temp, path) })
		if errors.Is(err, fs.ErrExist) {
			return true, c.reread()
		}
		c.seen = err == nil
		return false, c.unstage(err)
	}
	exchanged, err := durable.Swap(c.temp, path, func() (bool, error) {
		_, there, err := readCard(path, c.id)
		return string(there) == string(c.data), err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed meanwhile: publish
		c.data = nil
		_ = durable.Remove(c.temp)
		return true, nil
	case errors.Is(err, durable.ErrChanged):
		return true, c.reread()
	case err != nil:
		return false, c.unstage(err)
	}
	c.seen = true
	if !exchanged {
		return false, nil
	}
	return c.lookAtOut(text)
}

// unstage removes the staged version where err says that it was not taken.
func (c *change) unstage(err error) error {
	if err != nil {
		_ = durable.Remove(c.temp)
	}
	return err
}

// reread joins what somebody put at the card's name before the swap.
func (c *change) reread() error {
	_ = durable.Remove(c.temp)
	v, data, err := readCard(c.b.Path(c.id), c.id)
	if err != nil {
		return err
	}
	if v != nil {
		err = c.join(v)
	}
	c.data = data
	return err
}

// join adds what somebody else wrote meanwhile to what is to stand.
func (c *change) join(v *Card) (err error) {
	if c.text != nil {
		if c.now, err = Parse(c.text); err != nil {
			return err
		}
		c.text = nil
	}
	c.now = Join(c.now, v)
	return nil
}

// lookAtOut compares what the swap brought out with what was read.
func (c *change) lookAtOut(text []byte) (again bool, err error) {
	out, err := readData(c.temp)
	if err == nil && string(out) == string(c.data) {
		c.done = append(c.done, c.temp)
		return false, nil
	}
	var v *Card
	if err == nil {
		v, err = parseCard(c.temp, c.id, out)
	}
	switch {
	case errors.Is(err, spool.ErrBrokenCard):
		return false, c.keepOut()
	case err != nil:
		return false, err
	}
	c.data = text
	c.done = append(c.done, c.temp)
	return true, c.join(v)
}

// keepOut gives what came out, and is no card, the name of a conflict copy:
// whoever lists the board is told of it.
func (c *change) keepOut() error {
	suffix, err := c.b.h.Suffix()
	if err != nil {
		return err
	}
	name := string(c.id) + conflictMark + c.b.h.Now().UTC().Format("20060102-150405") + "-" + suffix + ".md"
	return durable.Publish(c.temp, c.b.h.File(name))
}

// digest tells two versions of one card apart: its length, and a sum that costs
// next to nothing. Nobody gains by two that are alike.
func digest(data []byte) string {
	return fmt.Sprintf("%08x%08x", len(data), crc32.Checksum(data, castagnoli))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Settle merges the conflict copies of a card, and what a crash left of a
// change, into it. Those that cannot be read stay. The errors are those of
// Read, but for spool.ErrNoCard.
func (b *Board) Settle(ctx context.Context, id CardID) error {
	return onCard("merge card", id, b.change(ctx, id, func(*Card) (*Card, error) { return nil, nil }))
}
