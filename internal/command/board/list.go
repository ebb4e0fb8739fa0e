package boardcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"xfer/internal/command"
	"xfer/internal/tool"
	"xfer/spool"
	"xfer/spool/board"
)

func cardsVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "list",
		Synopsis: []string{"list [flags]"},
		About: "Lists the cards, the last updated first. A line is id, number of entries, time of the last one, title. " +
			"Cards that cannot be read are named, with 65. Never waits.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "since", Usage: "updated at `TIME` or later"},
			&cli.StringFlag{Name: "before", Usage: "updated before `TIME`"},
			&cli.IntFlag{Name: "limit", Usage: "at most `N`"},
			command.ResumeFlag(),
		},
		Examples: []string{
			"xfer-board",
			"xfer-board list --since yesterday",
			"xfer-board list --json | jq -r 'select(.unread > 0) | .id'",
		},
		Statuses: []int{65, 75},
		Run:      listCards,
	}
}

func listCards(c *tool.Call) error {
	since, err := c.TimeFlag("since")
	if err != nil {
		return err
	}
	before, err := c.TimeFlag("before")
	if err != nil {
		return err
	}
	limit, err := limitFlag(c)
	if err != nil {
		return err
	}
	x, err := openBoard(c)
	if err != nil {
		return err
	}
	all, faults, err := x.b.List(c.Ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(card *board.Card) bool {
		at := card.UpdatedAt()
		return !since.IsZero() && at.Before(since) || !before.IsZero() && !at.Before(before)
	})
	if all, err = x.resume(all); err != nil {
		return err
	}
	if err := x.printCards(all, limit); err != nil {
		return err
	}
	failures := c.Failures()
	for _, fault := range faults {
		failures.Add(x.cardError("", fault))
	}
	return failures.Err()
}

func limitFlag(c *tool.Call) (int, error) {
	limit := c.Int("limit")
	if c.IsSet("limit") && limit < 1 {
		return 0, tool.Usage("flag \"--limit\": at least 1")
	}
	return limit, nil
}

func (c *boarder) printCards(all []*board.Card, limit int) error {
	seen, err := c.b.Cursor(c.Name)
	if err != nil {
		return err
	}
	more := limit > 0 && len(all) > limit
	if more {
		all = all[:limit]
	}
	for _, card := range all {
		if err := c.Out.Write(c.record(card, seen)); err != nil {
			return err
		}
	}
	if more {
		// A card's id stands for the place in the list.
		last := spool.ID(all[limit-1].ID)
		return c.Out.Truncated(fmt.Sprintf("after %d", limit), command.ResumeToken(c.Caller, last))
	}
	return c.Out.Flush()
}

// resume is what follows the card that --resume names.
func (c *boarder) resume(all []*board.Card) ([]*board.Card, error) {
	if !c.IsSet("resume") {
		return all, nil
	}
	token := c.String("resume")
	at := strings.LastIndexByte(token, '-')
	if at >= 0 && token == command.ResumeToken(c.Caller, spool.ID(token[:at])) {
		for i, card := range all {
			if string(card.ID) == token[:at] {
				return all[i+1:], nil
			}
		}
	}
	return nil, command.NotAToken()
}
