package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"xfer/internal/fault"
	"xfer/spool"
	"xfer/spool/board"
)

const (
	theCard = board.CardID("plan")
	theCopy = "plan.sync-conflict-20261130-170000-ABCDEFG.md"
	oldText = "the old text"
	newText = "the new text"
)

// A carding is a change of a card, and what its entries are before and after.
type carding struct {
	*world
	trial  fault.Trial
	before []string // nil: there is no card
	after  []string // nil: none any more
	prints bool     // one line on standard output
	again  int      // the status of the same call after it was done
}

// boards are the programs that change cards.
type boards struct{ board, edit string }

var boardStories = []struct {
	name  string
	setup func(*world, boards) fault.Trial
}{
	{"create a card", func(w *world, p boards) fault.Trial {
		c := &carding{world: w.create(), after: []string{}, prints: true, again: 73}
		return c.trying(p.board, "", "create", "--id", string(theCard), "The plan")
	}},
	{"append to a card", func(w *world, p boards) fault.Trial {
		c := &carding{world: w.card(), before: []string{oldText}, after: []string{oldText, newText}, prints: true}
		return c.trying(p.board, newText, "append", string(theCard), "--key", "once")
	}},
	{"append to a card that has a conflict copy", func(w *world, p boards) fault.Trial {
		c := &carding{world: w.card().conflict("from afar"), before: []string{oldText, "from afar"},
			after: []string{oldText, newText, "from afar"}, prints: true}
		return c.trying(p.board, newText, "append", string(theCard), "--key", "once")
	}},
	{"edit a card", func(w *world, p boards) fault.Trial {
		c := &carding{world: w.card(), before: []string{oldText}, after: []string{newText}}
		return c.trying(p.edit, "", w.spool, string(theCard), oldText, newText)
	}},
	{"remove a card", func(w *world, p boards) fault.Trial {
		c := &carding{world: w.card(), before: []string{oldText}, again: 66}
		return c.trying(p.board, "", "remove", "--yes", string(theCard))
	}},
}

func TestBoardStories(t *testing.T) {
	programs := boards{fault.Build(t, "xfer/cmd/xfer-board"), fault.Build(t, "xfer/internal/fault/testdata/cardedit")}
	for _, s := range boardStories {
		t.Run(s.name, func(t *testing.T) {
			n := fault.Each(t, func(t *testing.T) fault.Trial {
				return s.setup(newWorld(t, "", ""), programs)
			})
			tell(fmt.Sprintf("%4d points: %s", n, s.name))
		})
	}
}

// board opens the board, with nothing in its way.
func (w *world) board() (*board.Board, error) {
	s, err := spool.Open(w.spool, w.sys)
	if err != nil {
		return nil, err
	}
	return board.Open(s), nil
}

// card makes theCard with one entry.
func (w *world) card() *world {
	w.t.Helper()
	w.create()
	b, err := w.board()
	w.must(err)
	_, _, err = b.Create(context.Background(), theCard, "The plan", "alice", board.Draft{Type: "note", Author: "alice", Text: oldText})
	w.must(err)
	return w
}

// conflict lays a conflict copy with one more entry beside theCard.
func (w *world) conflict(text string) *world {
	w.t.Helper()
	b, err := w.board()
	w.must(err)
	data, err := os.ReadFile(b.Path(theCard))
	w.must(err)
	_, err = b.Append(context.Background(), theCard, board.Draft{Type: "note", Author: "bob", Text: text})
	w.must(err)
	w.must(os.Rename(b.Path(theCard), w.at("board", theCopy)))
	w.must(os.WriteFile(b.Path(theCard), data, 0o600))
	return w
}

func (c *carding) trying(program, stdin string, args ...string) fault.Trial {
	c.trial = c.world.trial(program, stdin, args...)
	c.trial.Env = append(c.trial.Env, "XFER_NAME=alice")
	c.trial.Check = c.check
	return c.trial
}

func (c *carding) check(r fault.Result) error {
	done, err := c.whole()
	if err != nil {
		return err
	}
	return errors.Join(ended(r), c.told(r, done), c.over(r, done))
}

// whole wants the card as it was, or as it is to be, and tells which. It is
// looked at as a reader does that merges nothing.
func (c *carding) whole() (done bool, err error) {
	data, err := os.ReadFile(c.at("board", string(theCard)+".md"))
	if errors.Is(err, os.ErrNotExist) {
		if c.before != nil {
			return false, errors.New("the card is gone")
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	card, err := board.Parse(data)
	if err != nil {
		return false, fmt.Errorf("%w: %q", err, data)
	}
	// A copy that could not be read has not been merged, and still lies there.
	if data, err := os.ReadFile(c.at("board", theCopy)); err == nil {
		theirs, err := board.Parse(data)
		if err != nil {
			return false, err
		}
		card = board.Join(card, theirs)
	}
	got := textsOf(card)
	switch {
	case c.after == nil && card.Removed(), c.after != nil && same(got, c.after):
		return true, nil
	case c.before != nil && same(got, c.before):
		return false, nil
	}
	return false, fmt.Errorf("the card has %q, which is neither old nor new", got)
}

func textsOf(card *board.Card) []string {
	all := []string{}
	for i := range card.Entries {
		all = append(all, card.Entries[i].Text())
	}
	return all
}

func same(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// told holds what was said against what is there.
func (c *carding) told(r fault.Result, done bool) error {
	printed := strings.HasSuffix(string(r.Stdout), "\n")
	switch {
	case (r.Status == 0 || printed) && !done:
		return errors.New("said to be done, and is not")
	case r.Status == 0 && c.prints && !printed:
		return errors.New("status 0, and nothing was printed")
	case (r.Status == 0 || printed) && unsyncedCard(r):
		return errors.New("said to be done, and it is not durable")
	case r.Fault != fault.Kill && done && r.Status != 0 && r.Status != 79 && !onStdout(r):
		return fmt.Errorf("status %d, and it was done", r.Status)
	}
	return nil
}

// unsyncedCard tells whether the sync of the staged file failed, or the first
// one after the card got its name.
func unsyncedCard(r fault.Result) bool {
	named := false
	for _, call := range r.Calls {
		switch {
		case strings.HasPrefix(call.Name, "rename"):
			named = named || strings.Contains(call.Line, "/board/plan.md\"") && !call.Injected()
		case call.Name == "fsync" && call.Injected():
			return true
		case call.Name == "fsync" && named:
			return false
		}
	}
	return false
}

// over runs the same call again, with nothing in its way: what a fault left
// behind does no harm, and is cleared away.
func (c *carding) over(r fault.Result, done bool) error {
	status := 0
	if done {
		status = c.again
	}
	if _, err := again(c.trial, status); err != nil {
		return err
	}
	b, err := c.board()
	if err != nil {
		return err
	}
	if err := b.Settle(context.Background(), theCard); err != nil {
		return err
	}
	if done, err := c.whole(); err != nil || !done {
		return fmt.Errorf("again: done: %t, %w", done, err)
	}
	found, err := b.Survey()
	if err != nil {
		return err
	}
	if n := len(found.Broken) + len(found.Copies) + len(found.Left) + len(found.Strays); n > 0 {
		return fmt.Errorf("left behind: %+v", found)
	}
	return nil
}
