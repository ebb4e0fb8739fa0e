package command

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

// pageSize is how much a list shows where no limit is given.
const pageSize = 100

func listVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "list",
		Synopsis: []string{"list [flags]"},
		About: "Lists what stands in a mailbox, oldest first. The columns: id, kind, sender, state, time, subject. " +
			"Never consumes, and waits only with --wait. Without --state: what is unfinished.",
		Flags: append(filterFlags(),
			&cli.StringSliceFlag{Name: "state", Usage: "in `STATE`: new, cur, work, done, bad, or all"},
			ResumeFlag(),
			waitFlag("until there is one, at most `DURATION`; else 1"),
		),
		Examples: []string{
			"xfer-inbox",
			"xfer-inbox list --kind task --since yesterday",
			"xfer-inbox list --wait 10m && xfer-inbox take",
		},
		Statuses: []int{1, 67, 75},
		Run:      list,
		Brief:    true,
	}
}

func list(c *tool.Call) error {
	f, limit, err := filter(c)
	if err != nil {
		return err
	}
	places, err := states(c)
	if err != nil {
		return err
	}
	x, err := Open(c)
	if err != nil {
		return err
	}
	m, err := x.mailbox()
	if err != nil {
		return err
	}
	after, err := ResumeAfter(x)
	if err != nil {
		return err
	}
	if limit == 0 {
		limit = pageSize
	}
	var page *spool.List
	found, err := x.until(m, func() (found, busy bool, err error) {
		page, err = m.List(c.Ctx, places, f, after, limit)
		return err == nil && len(page.Handoffs) > 0, false, err
	})
	if err != nil {
		return err
	}
	if err := x.printPage(page, limit); err != nil {
		return err
	}
	if !found && c.IsSet("wait") {
		return tool.Exit(1)
	}
	return nil
}

func (c *Caller) printPage(page *spool.List, limit int) error {
	for _, h := range page.Handoffs {
		if err := c.Out.Write(newHandoffRecord(&h.Header, h.Place, h.Path, h.Run)); err != nil {
			return err
		}
	}
	if err := c.Out.Flush(); err != nil {
		return err
	}
	c.notes(page.Notes)
	if page.More {
		last := page.Handoffs[len(page.Handoffs)-1].ID
		return c.Out.Truncated(fmt.Sprintf("after %d", limit), ResumeToken(c, last))
	}
	return nil
}

// states reads --state.
func states(c *tool.Call) ([]spool.Place, error) {
	if !c.IsSet("state") {
		return []spool.Place{spool.New, spool.Cur, spool.Work}, nil
	}
	words := []string{"all"}
	for _, p := range spool.Places {
		words = append(words, string(p))
	}
	typed, err := c.WordsFlag("state", words...)
	if err != nil {
		return nil, err
	}
	var places []spool.Place
	for _, w := range typed {
		if w == "all" {
			return spool.Places, nil
		}
		places = append(places, spool.Place(w))
	}
	return places, nil
}

// How long a reader waits before it looks again without being told:
// inotify is a hint, and what was locked is tried again within a second.
const (
	lookAgain     = time.Second
	lookAgainBusy = 200 * time.Millisecond
)

// until looks until something is found, an error comes, or the time that
// --wait gives is up; without --wait it looks once. What was locked by another
// process is looked at again sooner.
func (c *Caller) until(m *spool.Mailbox, look func() (found, busy bool, err error)) (bool, error) {
	if !c.IsSet("wait") {
		found, _, err := look()
		return found, err
	}
	c.CatchSignals()
	w := m.Watch()
	defer w.Close()
	deadline := time.Now().Add(c.Duration("wait"))
	for {
		found, busy, err := look()
		if found || err != nil {
			return found, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false, nil
		}
		pause := lookAgain
		if busy {
			pause = lookAgainBusy
		}
		if _, err := w.Wait(c.Ctx, min(left, pause)); err != nil {
			return false, err
		}
	}
}
