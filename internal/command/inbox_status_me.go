package command

import (
	"fmt"
	"strconv"
	"time"

	"xfer/internal/tool"
	"xfer/spool"
)

// A meRecord is who and where the caller is, and how much is waiting.
type meRecord struct {
	Name      spool.Name          `json:"name"`
	NameFrom  string              `json:"name_from"`
	Host      spool.Host          `json:"host"`
	HostFrom  string              `json:"host_from"`
	Spool     string              `json:"spool"`
	SpoolFrom string              `json:"spool_from"`
	Home      spool.Host          `json:"home,omitempty"`
	Hold      bool                `json:"hold,omitempty"`
	HoldFault string              `json:"hold_fault,omitempty"` // why it cannot be told
	Counts    map[spool.Place]int `json:"counts"`
	Oldest    spool.ID            `json:"oldest,omitempty"`
	OldestAt  *time.Time          `json:"oldest_at,omitempty"`
	Open      []spool.ID          `json:"open_tasks"`
}

func statusOfMe(c *tool.Call) error {
	x, err := Open(c)
	if err != nil {
		return err
	}
	r := &meRecord{Name: x.Name, Host: x.Spool.Host(), HostFrom: "machine id", Spool: x.Spool.Dir()}
	if _, r.NameFrom, err = c.Me(); err != nil {
		return err
	}
	if _, r.SpoolFrom, err = c.SpoolDir(); err != nil {
		return err
	}
	if c.Process.System.Env("XFER_HOST") != "" {
		r.HostFrom = "$XFER_HOST"
	}
	m, err := x.mailbox()
	if err != nil {
		return err
	}
	if r.Home, err = m.Home(); err != nil {
		return err
	}
	if p, err := m.Peer(); err != nil {
		r.HoldFault = err.Error()
	} else {
		r.Hold = p.Hold
	}
	if r.Counts, err = m.Counts(); err != nil {
		return err
	}
	if err := r.oldest(x, m); err != nil {
		return err
	}
	if r.Open, err = x.Spool.OpenTasks(c.Ctx, x.Name); err != nil {
		return err
	}
	return x.write(r, r.pairs())
}

func (r *meRecord) oldest(x *Caller, m *spool.Mailbox) error {
	page, err := m.List(x.Ctx, []spool.Place{spool.New, spool.Cur, spool.Work}, spool.Filter{}, "", 1)
	if err != nil {
		return err
	}
	if len(page.Handoffs) > 0 {
		at := page.Handoffs[0].Date.UTC()
		r.Oldest, r.OldestAt = page.Handoffs[0].ID, &at
	}
	x.notes(page.Notes)
	return nil
}

func (r *meRecord) pairs() []pair {
	lines := []pair{
		{"name", fmt.Sprintf("%s (%s)", r.Name, r.NameFrom)},
		{"host", fmt.Sprintf("%s (%s)", r.Host, r.HostFrom)},
		{"spool", fmt.Sprintf("%s (%s)", r.Spool, r.SpoolFrom)},
	}
	if r.Home == "" {
		lines = append(lines, pair{"home", "nobody has claimed the mailbox"})
	} else {
		lines = append(lines, pair{"home", string(r.Home)})
	}
	hold := "no"
	switch {
	case r.HoldFault != "":
		hold = "cannot be told: " + r.HoldFault
	case r.Hold:
		hold = "yes"
	}
	lines = append(lines, pair{"hold", hold})
	for _, p := range spool.Places {
		lines = append(lines, pair{string(p), strconv.Itoa(r.Counts[p])})
	}
	oldest := "none"
	if r.Oldest != "" {
		oldest = string(r.Oldest) + " sent " + r.OldestAt.Format(time.RFC3339)
	}
	lines = append(lines, pair{"oldest", oldest}, pair{"open_tasks", strconv.Itoa(len(r.Open))})
	for _, id := range r.Open {
		lines = append(lines, pair{"open", string(id)})
	}
	return lines
}
