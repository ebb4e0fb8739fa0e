package command

import (
	"time"

	"xfer/spool"
)

// A handoffRecord is a handoff on standard output.
type handoffRecord struct {
	ID           spool.ID      `json:"id"`
	Kind         spool.Kind    `json:"kind"`
	From         spool.Name    `json:"from"`
	State        spool.Place   `json:"state"`
	SentAt       time.Time     `json:"sent_at"`
	Subject      string        `json:"subject,omitempty"`
	To           spool.Name    `json:"to"`
	Host         spool.Host    `json:"host"` // the sender's
	InReplyTo    spool.ID      `json:"in_reply_to,omitempty"`
	Conversation spool.ID      `json:"conversation"`
	Conclusion   spool.Ending  `json:"conclusion,omitempty"`
	Labels       []spool.Label `json:"labels,omitempty"`
	Size         int64         `json:"size"`
	Digest       string        `json:"digest"`
	Type         string        `json:"type,omitempty"`
	Cwd          string        `json:"cwd,omitempty"`
	Path         string        `json:"path,omitempty"`
	TakenAt      *time.Time    `json:"taken_at,omitempty"`
	TakenBy      string        `json:"taken_by,omitempty"`
}

func newHandoffRecord(h *spool.Header, p spool.Place, path string, run *spool.Run) *handoffRecord {
	r := &handoffRecord{
		ID: h.ID, Kind: h.Kind, From: h.From, State: p, SentAt: h.Date.UTC(), Subject: h.Subject, To: h.To, Host: h.FromHost,
		InReplyTo: h.InReplyTo, Conversation: h.Conversation(), Conclusion: h.Ending, Labels: h.Labels,
		Size: h.Size, Digest: h.Digest.String(), Type: h.Type, Cwd: h.Cwd, Path: path,
	}
	if run != nil {
		r.TakenBy = run.TakenBy
		if !run.TakenAt.IsZero() {
			at := run.TakenAt.UTC()
			r.TakenAt = &at
		}
	}
	return r
}

// Fields shows a conclusion by its word.
func (r *handoffRecord) Fields() []any {
	return []any{string(r.ID), word(r.Kind, r.Conclusion), string(r.From), string(r.State), r.SentAt, r.Subject}
}

// word is what a list shows for a kind: of a conclusion, how the task ended.
func word(k spool.Kind, e spool.Ending) string {
	if e != "" {
		return string(e)
	}
	return string(k)
}

// An outcomeRecord is what became of one handoff. Its text is the id alone.
type outcomeRecord struct {
	ID       spool.ID      `json:"id,omitempty"`
	To       spool.Name    `json:"to,omitempty"` // a line of a batch may fail before it is known
	Outcome  spool.Outcome `json:"outcome"`
	Replayed bool          `json:"replayed,omitempty"`
	Detail   string        `json:"detail,omitempty"`
	Verdict  spool.Verdict `json:"verdict,omitempty"` // on the peer
	Queued   *int          `json:"queued,omitempty"`
	OldestAt *time.Time    `json:"oldest_at,omitempty"`
}

func (r *outcomeRecord) Fields() []any { return []any{string(r.ID)} }

// newOutcomeRecord is r as it is told: an id is told only of what was written.
func newOutcomeRecord(r spool.Report, err error) *outcomeRecord {
	o := &outcomeRecord{ID: r.ID, To: r.To, Outcome: r.Outcome, Replayed: r.Replayed, Detail: r.Detail}
	if r.Outcome == spool.NotDelivered {
		o.ID = ""
	}
	if err != nil {
		o.Detail = err.Error()
	}
	return o
}
