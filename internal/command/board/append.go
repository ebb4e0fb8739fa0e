package boardcmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"xfer/internal/command"
	"xfer/internal/tool"
	"xfer/spool"
	"xfer/spool/board"
)

// defaultType is what an entry is where nothing else is said.
const defaultType = "note"

// maxReply is the longest text that --from-reply looks through.
const maxReply = 16 << 20

func appendVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "append",
		Synopsis: []string{"append [flags] CARD [-f FILE | < FILE]", "append --from-reply [flags] [CARD] [-f FILE | < FILE]"},
		About: "Appends an entry to a card and prints its id. Once it is printed the entry is durable. " +
			"Waits for its text, and at most three seconds for others that write the card.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "type", Usage: "`TYPE` of the entry, a word of your own; default: note"},
			command.FileFlag(),
			&cli.StringFlag{Name: "key", Usage: "append once for each `TEXT`: again is a replay"},
			&cli.BoolFlag{Name: "from-reply", Usage: "only what its board-entry blocks hold"},
			&cli.StringSliceFlag{Name: "notify", Usage: "send `PEER` a notification; may be repeated"},
		},
		Max: 1,
		Examples: []string{
			"echo 'the cache is cold' | xfer-board append build",
			"xfer-board append --type decision release-2 -f decision.md",
			"agent < task.md | xfer-board append --from-reply release-2",
		},
		Statuses: []int{65, 66, 67, 73, 75, 79},
		Run:      appendEntries,
		Brief:    true,
	}
}

// An appending is one run of append.
type appending struct {
	*boarder
	card   board.CardID // empty: each block names its own
	kind   spool.Label
	notify []spool.Name
}

func appendEntries(c *tool.Call) error {
	a, err := newAppending(c)
	if err != nil {
		return err
	}
	body, err := c.Body()
	if err != nil {
		return err
	}
	defer body.Close()
	limit := int64(board.MaxText)
	if c.Bool("from-reply") {
		limit = maxReply
	}
	text, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return err
	}
	blocks, err := a.blocks(string(text), limit)
	if err != nil {
		return err
	}
	if a.boarder, err = openBoard(c); err != nil {
		return err
	}
	if err := a.mayNotify(); err != nil {
		return err
	}
	for i, b := range blocks {
		if err := a.append(b, i); err != nil {
			return err
		}
	}
	return nil
}

// newAppending reads flags and arguments: nothing is touched before all of
// them are right.
func newAppending(c *tool.Call) (*appending, error) {
	a := &appending{boarder: &boarder{Caller: &command.Caller{Call: c}}, kind: defaultType}
	ids, err := cards(c.Arguments)
	if err != nil {
		return nil, err
	}
	switch {
	case len(ids) > 0:
		a.card = ids[0]
	case !c.Bool("from-reply"):
		return nil, tool.WithHint(tool.Usage("append: too few arguments"), "usage: xfer-board append [flags] CARD [-f FILE | < FILE]")
	}
	if c.IsSet("type") {
		if a.kind, err = spool.ParseLabel(c.String("type")); err != nil {
			return nil, err
		}
	}
	if c.IsSet("key") && c.String("key") == "" {
		return nil, tool.Usage("flag \"--key\": needs a value")
	}
	for _, s := range c.StringSlice("notify") {
		n, err := command.PeerName(s)
		if err != nil {
			return nil, err
		}
		a.notify = append(a.notify, n)
	}
	return a, nil
}

// blocks is what is to be appended. All of it is right before any is written.
func (a *appending) blocks(text string, limit int64) ([]board.Block, error) {
	blocks := []board.Block{{Text: text}}
	if strings.TrimSpace(text) == "" && !a.Bool("from-reply") {
		return nil, &spool.Error{Op: "append to", Name: string(a.card), Err: tool.Usage("the entry is empty")}
	}
	if a.Bool("from-reply") {
		if int64(len(text)) > limit {
			return nil, tool.WithHint(spool.Because(spool.ErrTooLarge, fmt.Sprintf("the text has more than %d bytes", limit)), "give the end of it, where the block is")
		}
		var err error
		if blocks, err = board.Blocks(text); err != nil {
			return nil, &spool.Error{Op: "read reply", Err: err}
		}
	}
	for i := range blocks {
		if blocks[i].Type == "" {
			blocks[i].Type = a.kind
		}
		if blocks[i].Card == "" {
			blocks[i].Card = a.card
		}
		if blocks[i].Card == "" && blocks[i].Title == "" {
			return nil, tool.Usage("a board-entry block names no card, and none was given")
		}
		d := board.Draft{Text: blocks[i].Text}
		if err := d.Check(); err != nil {
			return nil, &spool.Error{Op: "append to", Name: string(blocks[i].Card), Err: err}
		}
	}
	return blocks, nil
}

// append writes one entry. A card that is not there is made where the block
// gives it a title.
func (a *appending) append(b board.Block, nth int) error {
	d := board.Draft{Type: b.Type, Author: a.Name, Text: b.Text}
	if key := a.String("key"); key != "" {
		d.Key = key
		if nth > 0 {
			d.Key += "\n" + strconv.Itoa(nth)
		}
	}
	card, done, err := a.b.AppendOrCreate(a.Ctx, b.Card, b.Title, d)
	if err != nil {
		return a.cardError(b.Card, err)
	}
	a.tell(card, &done)
	if err := a.Out.Write(&appendedRecord{newEntryRecord(card, &done.Entry), done.Replayed}); err != nil {
		return err
	}
	if err := a.Out.Flush(); err != nil {
		return err
	}
	for _, n := range a.notify {
		if err := a.sendNotice(n, card, &done); err != nil {
			return a.PeerError("notify", n, spool.Because(err, "entry "+string(done.Entry.ID)+" is on the card: "+err.Error()))
		}
	}
	return nil
}

func (a *appending) tell(card board.CardID, done *board.Appended) {
	switch {
	case done.Removed:
		a.Err.Say("appended before to %s, and removed since: %s", card, done.Entry.ID)
	case done.Replayed:
		a.Err.Say("appended before to %s: %s", card, done.Entry.ID)
	case done.Created:
		a.Err.Say("created card %s, %s, with %s %s", card, command.Quoted(done.Title), done.Entry.Type, done.Entry.ID)
	default:
		a.Err.Say("appended %s %s to %s, %s", done.Entry.Type, done.Entry.ID, card, command.Quoted(done.Title))
	}
}

// An appendedRecord is an entryRecord whose text is the id alone.
type appendedRecord struct {
	*entryRecord
	Replayed bool `json:"replayed,omitempty"`
}

func (r *appendedRecord) Fields() []any { return []any{string(r.ID)} }
