package boardcmd

import (
	"strconv"

	"github.com/urfave/cli/v2"

	"xfer/internal/command"
	"xfer/internal/tool"
	"xfer/spool/board"
)

func cardCreateVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "create",
		Synopsis: []string{"create [flags] TITLE"},
		About:    "Makes a card and prints its id. Makes the spool where there is none. Never waits.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "id", Usage: "the card is `NAME`; default: c- and six characters"},
		},
		Min: 1, Max: 1,
		Examples: []string{
			"xfer-board create --id release-2 'Release 2'",
			"card=$(xfer-board create 'Why the build is slow')",
			"xfer-board create --json 'Open questions' | jq -r .id",
		},
		Statuses: []int{73, 75, 79},
		Run:      createCard,
	}
}

// A createdRecord is a cardRecord whose text is the id alone.
type createdRecord struct{ *cardRecord }

func (r *createdRecord) Fields() []any { return []any{string(r.ID)} }

func createCard(c *tool.Call) error {
	title, err := board.ParseTitle(c.Arguments[0])
	if err != nil {
		return err
	}
	var id board.CardID
	if c.IsSet("id") {
		if id, err = board.ParseCardID(c.String("id")); err != nil {
			return err
		}
	}
	x, err := atBoard(command.OpenOrCreate(c))
	if err != nil {
		return err
	}
	card, _, err := x.b.Create(c.Ctx, id, title, x.Name)
	if err != nil {
		return x.cardError(id, err)
	}
	x.Err.Say("created card %s, %s", card.ID, strconv.Quote(title))
	if err := x.Out.Write(&createdRecord{x.record(card, &board.Cursor{})}); err != nil {
		return err
	}
	return x.Out.Flush()
}

func cardRemoveVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "remove",
		Synopsis: []string{"remove [flags] CARD…", "remove --all"},
		About: "Removes cards, after asking on a terminal; elsewhere it needs --yes. What is left is a file " +
			"that says they are gone, so that no late copy brings them back. Never waits.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "every card there is"},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask"},
		},
		Max: -1,
		Examples: []string{
			"xfer-board remove release-1",
			"xfer-board remove --yes c-7h2k9x c-m3p0qd",
			"xfer-board remove --all",
		},
		Statuses: []int{65, 66, 75, 79},
		Run:      removeCards,
	}
}

func removeCards(c *tool.Call) error {
	ids, err := cards(c.Arguments)
	if err != nil {
		return err
	}
	if c.Bool("all") == (len(ids) > 0) {
		return tool.Usage("remove: either cards, or \"--all\"")
	}
	x, err := openBoard(c)
	if err != nil {
		return err
	}
	failures := c.Failures()
	if c.Bool("all") {
		all, faults, err := x.b.List(c.Ctx)
		if err != nil {
			return err
		}
		for _, card := range all {
			ids = append(ids, card.ID)
		}
		defer func() {
			for _, fault := range faults {
				failures.Add(x.cardError("", fault))
			}
		}()
	}
	if len(ids) > 0 {
		if err := c.Confirm(removeQuestion(ids)); err != nil {
			return err
		}
	}
	for _, id := range ids {
		title, err := x.b.Remove(c.Ctx, id)
		if failures.Add(x.cardError(id, err)); err == nil {
			x.Err.Say("removed card %s, %s", id, strconv.Quote(title))
		}
	}
	return failures.Err()
}

func removeQuestion(ids []board.CardID) string {
	if len(ids) == 1 {
		return "remove card " + strconv.Quote(string(ids[0])) + "?"
	}
	return "remove " + strconv.Itoa(len(ids)) + " cards?"
}
