package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

func sentVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "sent",
		Synopsis: []string{"sent [flags]"},
		About: "Lists what you sent from this host, oldest first. The columns: id, kind, addressee, outcome, conclusion, time, subject. " +
			"Never waits, never consumes.",
		Flags: append(filterFlags(),
			&cli.BoolFlag{Name: "open", Usage: "tasks whose conclusion has not come"},
			ResumeFlag(),
		),
		Examples: []string{
			"xfer-inbox sent --since today",
			"xfer-inbox sent --open",
			"xfer-inbox sent --json --to reviewer | jq -r .outcome",
		},
		Run: sent,
	}
}

// A sentRecord is a handoff that the caller sent, with what became of it.
type sentRecord struct {
	ID         spool.ID      `json:"id"`
	Kind       spool.Kind    `json:"kind"`
	To         spool.Name    `json:"to"`
	Outcome    spool.Outcome `json:"outcome"`
	Conclusion spool.Ending  `json:"conclusion,omitempty"`
	SentAt     time.Time     `json:"sent_at"`
	Subject    string        `json:"subject,omitempty"`
	Detail     string        `json:"detail,omitempty"`
	ConcludeID spool.ID      `json:"conclusion_id,omitempty"`
	InReplyTo  spool.ID      `json:"in_reply_to,omitempty"`
	Root       spool.ID      `json:"conversation"`
	Labels     []spool.Label `json:"labels,omitempty"`
	Size       int64         `json:"size"`
	Digest     string        `json:"digest"`
}

func (r *sentRecord) Fields() []any {
	return []any{string(r.ID), string(r.Kind), string(r.To), string(r.Outcome), string(r.Conclusion), r.SentAt, r.Subject}
}

func newSentRecord(h *spool.SentHandoff) *sentRecord {
	r := &sentRecord{
		ID: h.ID, Kind: h.Kind, To: h.To, Outcome: h.Report.Outcome, SentAt: h.Date.UTC(), Subject: h.Subject, Detail: h.Report.Detail,
		InReplyTo: h.InReplyTo, Root: h.Conversation(), Labels: h.Labels, Size: h.Size, Digest: h.Digest.String(),
	}
	if h.Conclusion != nil {
		r.Conclusion, r.ConcludeID = h.Conclusion.Ending, h.Conclusion.ID
	}
	return r
}

func sent(c *tool.Call) error {
	f, limit, err := filter(c)
	if err != nil {
		return err
	}
	x, err := Open(c)
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
	page, err := x.Spool.Sent(c.Ctx, x.Name, f, c.Bool("open"), after, limit)
	if err != nil {
		return err
	}
	for i := range page.Handoffs {
		if err := c.Out.Write(newSentRecord(&page.Handoffs[i])); err != nil {
			return err
		}
	}
	if page.More {
		last := page.Handoffs[len(page.Handoffs)-1].ID
		return c.Out.Truncated(fmt.Sprintf("after %d", limit), ResumeToken(x, last))
	}
	return nil
}

func conversationVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "conversation",
		Synopsis: []string{"conversation [flags] ID"},
		About: "Shows the handoffs that answer one another, as a tree. Each stands below what it answers. " +
			"Reads every mailbox of the spool. Never waits, never consumes.",
		Min: 1, Max: 1,
		Examples: []string{
			"xfer-inbox conversation 01kb9w6t3v8f5s7q2m4x0c1d9e",
			"xfer-inbox conversation --json c1d9e | jq -r .id",
			"xfer-inbox conversation c1d9e | cut -f1 | xargs -n1 xfer-inbox show --quote",
		},
		Statuses: []int{65, 66, 75},
		Run:      conversation,
	}
}

// A nodeRecord is a handoff in its conversation: a list's columns, the subject
// as far to the right as the handoff lies deep.
type nodeRecord struct {
	*handoffRecord
	Depth int `json:"depth"`
}

func (r *nodeRecord) Fields() []any {
	fields := r.handoffRecord.Fields()
	if r.Depth > 0 {
		fields[len(fields)-1] = strings.Repeat("  ", r.Depth-1) + "└ " + r.Subject
	}
	return fields
}

func conversation(c *tool.Call) error {
	x, err := Open(c)
	if err != nil {
		return err
	}
	id, err := x.resolveAny(c.Arguments[0])
	if err != nil {
		return err
	}
	nodes, err := x.Spool.Conversation(c.Ctx, id)
	if err != nil {
		return onID("show", id, err)
	}
	for i := range nodes {
		n := &nodes[i]
		if err := c.Out.Write(&nodeRecord{newHandoffRecord(&n.Header, n.Place, n.Path, n.Run), n.Depth}); err != nil {
			return err
		}
	}
	return nil
}
