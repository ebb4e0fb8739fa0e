package boardcmd

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"xfer/internal/command"
	"xfer/internal/tool"
	"xfer/spool"
	"xfer/spool/board"
)

func unreadVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "unread",
		Synopsis: []string{"unread [flags] [CARD…]"},
		About: "Lists entries by others that you have not marked as seen. Oldest first; a line is card, id, type, author, time. " +
			"Marks nothing, never waits.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "limit", Usage: "at most `N`"},
			command.ResumeFlag(),
		},
		Max: -1,
		Examples: []string{
			"xfer-board unread",
			"xfer-board unread --json release-2 | jq -r .text",
			"xfer-board unread --as reviewer --limit 10",
		},
		Statuses: []int{65, 66, 75},
		Run:      unread,
	}
}

// An unreadEntry is one with its card.
type unreadEntry struct {
	card *board.Card
	board.Entry
}

func unread(c *tool.Call) error {
	ids, err := cards(c.Arguments)
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
	after, err := command.ResumeAfter(x.Caller)
	if err != nil {
		return err
	}
	failures := c.Failures()
	all, faults, err := x.these(ids)
	if err != nil {
		return err
	}
	if err := x.printUnread(all, after, limit); err != nil {
		return err
	}
	for _, fault := range faults {
		failures.Add(fault)
	}
	return failures.Err()
}

// these are the cards named, or all of them, and what is wrong with others.
func (c *boarder) these(ids []board.CardID) (all []*board.Card, faults []error, err error) {
	if len(ids) == 0 {
		all, faults, err = c.b.List(c.Ctx)
		for i := range faults {
			faults[i] = c.cardError("", faults[i])
		}
		return all, faults, err
	}
	for _, id := range ids {
		card, err := c.b.Read(c.Ctx, id)
		if err != nil {
			faults = append(faults, c.cardError(id, err))
			continue
		}
		all = append(all, card)
	}
	return all, faults, nil
}

func (c *boarder) printUnread(all []*board.Card, after spool.ID, limit int) error {
	seen, err := c.b.Cursor(c.Name)
	if err != nil {
		return err
	}
	var entries []unreadEntry
	for _, card := range all {
		for _, e := range seen.Unread(card, c.Name) {
			if e.ID > after {
				entries = append(entries, unreadEntry{card, e})
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b unreadEntry) int { return cmp.Compare(a.ID, b.ID) })
	for i := range entries {
		e := &entries[i]
		// Two texts under one id are not torn apart: a page resumes after an id.
		if limit > 0 && i >= limit && e.ID != entries[i-1].ID {
			return c.Out.Truncated(fmt.Sprintf("after %d", i), command.ResumeToken(c.Caller, entries[i-1].ID))
		}
		if err := c.Out.Write(newEntryRecord(e.card.ID, &e.Entry)); err != nil {
			return err
		}
	}
	return c.Out.Flush()
}

func cardSeenVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "seen",
		Synopsis: []string{"seen [flags] CARD [ENTRY…]"},
		About:    "Marks entries of a card as seen by you. Those named, or all there are now. Never waits.",
		Min:      1, Max: -1,
		Examples: []string{
			"xfer-board seen release-2",
			"xfer-board seen release-2 c1d9e",
			"xfer-board --as reviewer seen release-2",
		},
		Statuses: []int{65, 66, 75},
		Run:      markSeen,
	}
}

func markSeen(c *tool.Call) error {
	id, err := board.ParseCardID(c.Arguments[0])
	if err != nil {
		return err
	}
	var parts []spool.IDPart
	for _, arg := range c.Arguments[1:] {
		part, err := spool.ParseIDPart(arg)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	x, err := openBoard(c)
	if err != nil {
		return err
	}
	card, err := x.b.Read(c.Ctx, id)
	if err != nil {
		return x.cardError(id, err)
	}
	entries := card.Entries
	if len(parts) > 0 {
		entries = nil
	}
	for _, part := range parts {
		found, err := card.Find(part)
		if err != nil {
			return &spool.Error{Op: "find entry", Name: string(part), Err: err}
		}
		entries = append(entries, found...)
	}
	var ids []spool.ID
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if err := x.b.MarkSeen(c.Ctx, x.Name, card, ids); err != nil {
		return &spool.Error{Op: "mark as seen", Name: string(id), Err: err}
	}
	x.Err.Say("seen: %s of card %s", entriesOf(len(ids)), id)
	return nil
}

func entriesOf(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}
