package command

import (
	"time"

	"xfer/internal/tool"
	"xfer/spool"
)

func peersVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "peers",
		Synopsis: []string{"peers [flags] [PEER…]"},
		About: "Lists the peers of the spool. The columns: name, verdict, how much is queued, host, description. " +
			"With --json the evidence of each verdict too. Never waits.",
		Max: -1,
		Examples: []string{
			"xfer-inbox peers",
			"xfer-inbox peers reviewer",
			"xfer-inbox peers --json | jq -r 'select(.verdict==\"crashed\").peer'",
		},
		Statuses: []int{67},
		Run:      peers,
	}
}

// A peerRecord is a verdict on a peer, with what it rests on.
type peerRecord struct {
	Peer        spool.Name      `json:"peer"`
	Verdict     spool.Verdict   `json:"verdict"`
	Queued      int             `json:"queued"`
	Host        spool.Host      `json:"host,omitempty"`
	Description string          `json:"description,omitempty"`
	OldestAt    *time.Time      `json:"oldest_at,omitempty"`
	State       spool.LiveState `json:"state,omitempty"`
	Running     []spool.ID      `json:"running,omitempty"`
	Doing       string          `json:"doing,omitempty"`
	Hold        bool            `json:"hold,omitempty"`
	PID         int             `json:"pid,omitempty"`
	StartedAt   *time.Time      `json:"started_at,omitempty"`
	BeatAt      *time.Time      `json:"beat_at,omitempty"`
	RemovedAt   *time.Time      `json:"removed_at,omitempty"`
	Evidence    []string        `json:"evidence"`
}

func (r *peerRecord) Fields() []any {
	return []any{string(r.Peer), string(r.Verdict), r.Queued, string(r.Host), r.Description}
}

func newPeerRecord(st *spool.State) *peerRecord {
	l := &st.Live
	return &peerRecord{
		Peer: st.Peer, Verdict: st.Verdict, Queued: st.Queued, Host: l.Host, Description: st.About.Description,
		OldestAt: timePointer(st.OldestAt), State: l.State, Running: l.Running, Doing: l.Doing, Hold: st.About.Hold, PID: l.PID,
		StartedAt: l.StartedAt, BeatAt: l.BeatAt, RemovedAt: st.About.RemovedAt, Evidence: st.Evidence,
	}
}

func timePointer(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}

func peers(c *tool.Call) error {
	var named []spool.Name
	for _, arg := range c.Arguments {
		n, err := spool.ParseName(arg)
		if err != nil {
			return err
		}
		named = append(named, n)
	}
	x, err := Open(c)
	if err != nil {
		return err
	}
	all := named
	if len(named) == 0 {
		if all, err = x.Spool.Peers(); err != nil {
			return err
		}
	}
	failures := c.Failures()
	for _, n := range all {
		failures.Add(x.peer(n, len(named) > 0))
	}
	return failures.Err()
}

// peer prints one peer. One that was removed is shown to who names it.
func (c *Caller) peer(n spool.Name, named bool) error {
	m, err := c.Spool.Mailbox(n)
	if err != nil {
		return c.PeerError("look at", n, err)
	}
	st, err := m.Judge(true)
	if err != nil {
		return c.PeerError("look at", n, err)
	}
	if st.About.RemovedAt != nil && !named {
		return nil
	}
	return c.Out.Write(newPeerRecord(st))
}
