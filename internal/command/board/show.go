package boardcmd

import (
	"bytes"
	"io"
	"strings"

	"xfer/internal/command"
	"xfer/internal/tool"
	"xfer/spool"
	"xfer/spool/board"

	"github.com/urfave/cli/v2"
)

func cardShowVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "show",
		Synopsis: []string{"show [flags] CARD [ENTRY]"},
		About: "Shows a card, or the text of one entry. A card is shown as it lies on disk, a text as its author gave it. " +
			"ENTRY is an id, or four characters or more of its beginning or end. Never waits.",
		Flags: []cli.Flag{command.QuoteFlag()},
		Min:   1, Max: 2,
		Examples: []string{
			"xfer-board show release-2 | less",
			"xfer-board show --quote release-2",
			"xfer-board show release-2 c1d9e",
		},
		Statuses: []int{65, 66, 75},
		Run:      showCard,
	}
}

func showCard(c *tool.Call) error {
	if c.Out.JSON() && c.Bool("quote") {
		return tool.Usage("flag \"--json\": it shows texts as they are")
	}
	id, err := board.ParseCardID(c.Arguments[0])
	if err != nil {
		return err
	}
	var part spool.IDPart
	if len(c.Arguments) > 1 {
		if part, err = spool.ParseIDPart(c.Arguments[1]); err != nil {
			return err
		}
	}
	x, err := openBoard(c)
	if err != nil {
		return err
	}
	card, data, err := x.b.Show(c.Ctx, id)
	if err != nil {
		return x.cardError(id, err)
	}
	entries := card.Entries
	if part != "" {
		if entries, err = card.Find(part); err != nil {
			return &spool.Error{Op: "show entry", Name: string(part), Err: err}
		}
		var texts []string
		for i := range entries {
			texts = append(texts, entries[i].Text()+"\n")
		}
		data = []byte(strings.Join(texts, "\n"))
	}
	if c.Out.JSON() {
		return x.showObjects(card, entries, part == "")
	}
	if c.Bool("quote") {
		return x.quote(bytes.NewReader(data))
	}
	return x.WriteBody(bytes.NewReader(data))
}

// showObjects is the card, where it is asked for, and an object an entry.
func (c *boarder) showObjects(card *board.Card, entries []board.Entry, whole bool) error {
	if whole {
		seen, err := c.b.Cursor(c.Name)
		if err != nil {
			return err
		}
		if err := c.Out.Write(c.record(card, seen)); err != nil {
			return err
		}
	}
	for i := range entries {
		if err := c.Out.Write(newEntryRecord(card.ID, &entries[i])); err != nil {
			return err
		}
	}
	return c.Out.Flush()
}

func (c *boarder) quote(r io.Reader) error {
	w := c.Out.Raw()
	return command.EachLine(r, func(line []byte, ended bool) error {
		return command.WriteLine(w, "> ", line, true)
	})
}
