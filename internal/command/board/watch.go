package boardcmd

import (
	"github.com/urfave/cli/v2"

	"xfer/internal/command"
	"xfer/internal/tool"
	"xfer/spool/board"
)

func cardWatchVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "watch",
		Synopsis: []string{"watch [flags] [CARD]"},
		About: "Prints a line for each entry that comes from now on. A line is card, id, type, author, time. " +
			"It tells of an entry however it comes: by append, a sync tool or an editor. Marks nothing. Waits until it is stopped.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "limit", Usage: "stop after `N`"},
			&cli.DurationFlag{Name: "poll", Value: command.DefaultPoll, Usage: "look again every `DURATION` where nothing was noticed"},
		},
		Max: 1,
		Examples: []string{
			"xfer-board watch",
			"xfer-board watch --json release-2 | jq -r .text",
			"xfer-board watch --limit 1 release-2 && xfer-board unread",
		},
		Statuses: []int{75},
		Run:      watchCards,
	}
}

func watchCards(c *tool.Call) error {
	ids, err := cards(c.Arguments)
	if err != nil {
		return err
	}
	limit, err := limitFlag(c)
	if err != nil {
		return err
	}
	poll := c.Duration("poll")
	if poll <= 0 {
		return tool.Usage("flag \"--poll\": longer than nothing")
	}
	x, err := openBoard(c)
	if err != nil {
		return err
	}
	var only board.CardID
	if len(ids) > 0 {
		only = ids[0]
		if _, err := x.b.Read(c.Ctx, only); err != nil {
			return x.cardError(only, err)
		}
	}
	w, err := x.b.Watch(c.Ctx, only)
	if err != nil {
		return err
	}
	defer w.Close()
	for shown := 0; limit == 0 || shown < limit; {
		all, err := w.Next(c.Ctx, poll)
		if err != nil {
			return err
		}
		for _, a := range all {
			for i := range a.Entries {
				if limit > 0 && shown == limit {
					break
				}
				shown++
				if err := x.Out.Write(newEntryRecord(a.Card.ID, &a.Entries[i])); err != nil {
					return err
				}
			}
		}
		if err := x.Out.Flush(); err != nil {
			return err
		}
	}
	return nil
}
