package command

import (
	"fmt"
	"strings"
	"time"

	"xfer/internal/tool"
	"xfer/spool"
)

func statusVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "status",
		Synopsis: []string{"status [flags] [ID…]"},
		About: "Tells what can be known of handoffs, with the evidence. Without ID: who and where you are, and how " +
			"much is waiting. Lines of key and value. Never waits, never consumes.",
		Max: -1,
		Examples: []string{
			"xfer-inbox status",
			"xfer-inbox status 01kb9w6t3v8f5s7q2m4x0c1d9e",
			"xfer-inbox status --json c1d9e | jq -r .outcome",
		},
		Statuses: []int{66, 67, 79},
		Run:      status,
		Brief:    true,
	}
}

// A pair is a line of status.
type pair struct {
	key   string
	value any
}

func (p *pair) Fields() []any { return []any{p.key, p.value} }

func status(c *tool.Call) error {
	if len(c.Arguments) == 0 {
		return statusOfMe(c)
	}
	for _, typed := range c.Arguments {
		if _, err := spool.ParseIDPart(typed); err != nil {
			return err
		}
	}
	x, err := Open(c)
	if err != nil {
		return err
	}
	failures := c.Failures()
	for _, typed := range c.Arguments {
		failures.Add(x.statusOf(typed))
	}
	return failures.Err()
}

// A statusRecord is all that is known of one handoff.
type statusRecord struct {
	ID         spool.ID       `json:"id"`
	State      spool.Place    `json:"state,omitempty"`
	Outcome    spool.Outcome  `json:"outcome"`
	Detail     string         `json:"detail,omitempty"`
	Kind       spool.Kind     `json:"kind,omitempty"`
	From       spool.Name     `json:"from,omitempty"`
	To         spool.Name     `json:"to,omitempty"`
	Conclusion string         `json:"conclusion,omitempty"`
	ConcludeID spool.ID       `json:"conclusion_id,omitempty"`
	TakenBy    string         `json:"taken_by,omitempty"`
	TakenAt    *time.Time     `json:"taken_at,omitempty"`
	Released   bool           `json:"released,omitempty"`
	Handler    *handlerRecord `json:"handler,omitempty"`
	Evidence   []evidence     `json:"evidence"`
}

// A handlerRecord is what a handler on this host did.
type handlerRecord struct {
	Attempts int        `json:"attempts"`
	Deferred int        `json:"deferred,omitempty"`
	Status   *int       `json:"status,omitempty"`
	TimedOut bool       `json:"timed_out,omitempty"`
	Seconds  float64    `json:"seconds"`
	EndedAt  *time.Time `json:"ended_at"`
	NextAt   *time.Time `json:"next_at,omitempty"`
	Stderr   string     `json:"stderr,omitempty"`
}

func newHandlerRecord(r *spool.Run) *handlerRecord {
	return &handlerRecord{r.Attempts, r.Deferred, r.Status, r.TimedOut, r.Seconds, r.EndedAt, r.NextAt, r.Stderr}
}

func (r *handlerRecord) pairs() []pair {
	tries := fmt.Sprintf("%d", r.Attempts)
	if r.Deferred > 0 {
		tries += fmt.Sprintf(", and %d put off", r.Deferred)
	}
	last := r.EndedAt.UTC().Format(time.RFC3339) + fmt.Sprintf(" after %.3fs", r.Seconds)
	if r.Status != nil {
		last += fmt.Sprintf(", status %d", *r.Status)
	}
	if r.TimedOut {
		last += ", out of time"
	}
	lines := []pair{{"attempts", tries}, {"handler_ended", last}}
	if r.NextAt != nil {
		lines = append(lines, pair{"next_try", r.NextAt.UTC().Format(time.RFC3339)})
	}
	for _, line := range strings.Split(strings.TrimSuffix(r.Stderr, "\n"), "\n") {
		if line != "" {
			lines = append(lines, pair{"stderr", line})
		}
	}
	return lines
}

// An evidence is one thing that was seen, and when it came about.
type evidence struct {
	What string     `json:"what"`
	At   *time.Time `json:"at,omitempty"`
}

func (e evidence) String() string {
	if e.At == nil {
		return e.What
	}
	return e.At.Format(time.RFC3339) + " " + e.What
}

func (c *Caller) statusOf(typed string) error {
	id, err := c.resolveAny(typed)
	if err != nil {
		return err
	}
	l, err := c.Spool.Locate(id)
	if err != nil {
		return onID("find", id, err)
	}
	r := newStatusRecord(l)
	if err := c.conclusionInto(r, l.Header); err != nil {
		return onID("find", id, err)
	}
	if err := c.write(r, r.pairs()); err != nil {
		return err
	}
	if r.Outcome == spool.Unknown {
		return tool.WithHint(onID("find", id, spool.Because(spool.ErrUnknown, l.Err.Error())), "ask again later; do not send it anew")
	}
	return nil
}

// write prints one record: an object, or its lines.
func (c *Caller) write(record any, lines []pair) error {
	if c.Out.JSON() {
		return c.Out.Write(object{record})
	}
	for i := range lines {
		if err := c.Out.Write(&lines[i]); err != nil {
			return err
		}
	}
	return c.Out.Flush()
}

func newStatusRecord(l *spool.Located) *statusRecord {
	r := &statusRecord{ID: l.ID, State: l.State(), Outcome: l.Report.Outcome, Detail: l.Report.Detail, Released: l.Released, Evidence: []evidence{}}
	if h := l.Header; h != nil {
		r.Kind, r.From, r.To = h.Kind, h.From, h.To
		at := h.Date.UTC()
		r.Evidence = append(r.Evidence, evidence{"sent by " + string(h.From) + " on " + string(h.FromHost) + ", it says", &at})
	}
	if l.Sent {
		r.Evidence = append(r.Evidence, evidence{"the registry of this host has it", nil})
	}
	for _, g := range l.Seen {
		at := g.At.UTC()
		what := "in " + string(g.Peer) + "'s " + string(g.Place) + "/, changed here"
		if g.Err != nil {
			what += "; " + g.Err.Error()
		}
		if g.Reason != "" {
			what += "; set aside: " + g.Reason
		}
		r.Evidence = append(r.Evidence, evidence{what, &at})
	}
	if l.Folded != nil {
		r.Evidence = append(r.Evidence, evidence{string(l.Peer) + "'s past/ remembers it: it was let go from " + string(l.Folded.Last.Place()) + "/", nil})
	}
	if l.Run != nil {
		r.TakenBy, r.TakenAt = l.Run.TakenBy, timePointer(l.Run.TakenAt)
		if l.Run.EndedAt != nil {
			r.Handler = newHandlerRecord(l.Run)
		}
	}
	return r
}

// conclusionInto adds what a task's conclusion is, as far as it can be seen.
func (c *Caller) conclusionInto(r *statusRecord, h *spool.Header) error {
	if h == nil || h.Kind != spool.Task {
		return nil
	}
	first, err := c.Spool.ConclusionOf(h)
	if err != nil {
		return err
	}
	r.Conclusion = "open"
	switch {
	case first == nil:
	case first.Date.IsZero(): // a segment's memory of it
		r.Conclusion, r.ConcludeID = string(first.Ending), first.ID
		r.Evidence = append(r.Evidence, evidence{"concluded " + string(first.Ending) + " by " + string(first.From) + ": " + string(first.To) + "'s past/ remembers it", nil})
	default:
		at := first.Date.UTC()
		r.Conclusion, r.ConcludeID = string(first.Ending), first.ID
		r.Evidence = append(r.Evidence, evidence{"concluded " + string(first.Ending) + " by " + string(first.From) + " on " + string(first.FromHost) + ", it says", &at})
	}
	return nil
}

const noEvidence = "no evidence"

func (r *statusRecord) pairs() []pair {
	state := string(r.State)
	if state == "" {
		state = noEvidence
	}
	lines := []pair{{"id", string(r.ID)}, {"state", state}, {"outcome", string(r.Outcome)}}
	if r.Detail != "" {
		lines = append(lines, pair{"reason", r.Detail})
	}
	if r.Conclusion != "" {
		value := r.Conclusion
		if r.ConcludeID != "" {
			value += " " + string(r.ConcludeID)
		}
		lines = append(lines, pair{"conclusion", value})
	}
	if r.TakenAt != nil {
		lines = append(lines, pair{"taken_by", r.TakenBy}, pair{"taken_at", *r.TakenAt})
	} else {
		lines = append(lines, pair{"taken_by", noEvidence})
	}
	if r.Handler != nil {
		lines = append(lines, r.Handler.pairs()...)
	}
	if r.Released {
		lines = append(lines, pair{"released", "the next take offers it"})
	}
	for _, e := range r.Evidence {
		lines = append(lines, pair{"evidence", e.String()})
	}
	return lines
}

// An object is a record that has no line of its own.
type object struct{ any }

func (o object) Fields() []any { return nil }

// MarshalJSON is the record inside.
func (o object) MarshalJSON() ([]byte, error) { return tool.JSON(o.any) }
