package command

import (
	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

func watchVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "watch",
		Synopsis: []string{"watch [flags]"},
		About: "Prints a line for each arrival from now on, as list prints it. " +
			"Never consumes, moves nothing, holds no name. Waits until it is stopped.",
		Flags: append(filterFlags(),
			&cli.DurationFlag{Name: "poll", Value: DefaultPoll, Usage: "look again every `DURATION` where nothing was noticed"},
		),
		Examples: []string{
			"xfer-inbox watch",
			"xfer-inbox watch --json --kind task | jq -r .subject",
			"xfer-inbox watch --limit 1 && notify-send 'mail'",
		},
		Statuses: []int{67},
		Run:      watchInbox,
	}
}

// A watching is one run of watch.
type watching struct {
	*Caller
	m      *spool.Mailbox
	filter spool.Filter
	limit  int
	known  map[spool.ID]bool
	shown  int
}

func watchInbox(c *tool.Call) error {
	f, limit, err := filter(c)
	if err != nil {
		return err
	}
	poll := c.Duration("poll")
	if poll <= 0 {
		return tool.Usage("flag \"--poll\": longer than nothing")
	}
	x, err := Open(c)
	if err != nil {
		return err
	}
	m, err := x.mailbox()
	if err != nil {
		return err
	}
	w := m.Watch()
	defer w.Close()
	v := &watching{Caller: x, m: m, filter: f, limit: limit}
	if v.known, err = m.IDs(); err != nil {
		return onMailbox(m, err)
	}
	for limit == 0 || v.shown < limit {
		came, err := w.Wait(c.Ctx, poll)
		if err != nil {
			return err
		}
		if err := v.look(came); err != nil {
			return err
		}
	}
	return nil
}

// look shows what is not known yet of what came; of everything that is there
// where nothing was seen to come.
func (v *watching) look(came []string) error {
	var ids []spool.ID
	for _, path := range came {
		if id, _, ok := v.m.Came(path); ok {
			ids = append(ids, id)
		}
	}
	if came == nil {
		all, err := v.m.IDs()
		if err != nil {
			return onMailbox(v.m, err)
		}
		for id := range v.known { // what is gone for good need not be remembered
			if !all[id] {
				delete(v.known, id)
			}
		}
		ids = sortedIDs(all)
	}
	for _, id := range ids {
		if v.known[id] || v.limit > 0 && v.shown == v.limit {
			continue
		}
		if err := v.show(id); err != nil {
			return err
		}
	}
	return v.Out.Flush()
}

// show prints one arrival wherever it stands by now. What is not whole yet is
// looked at again.
func (v *watching) show(id spool.ID) error {
	h, err := v.m.Look(id)
	if err != nil || h == nil {
		return err
	}
	v.known[id] = true
	if !v.filter.Match(&h.Header) {
		return nil
	}
	v.shown++
	return v.Out.Write(newHandoffRecord(&h.Header, h.Place, h.Path, h.Run))
}
