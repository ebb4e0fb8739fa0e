package command

import (
	"errors"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

func holdVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "hold",
		Synopsis: []string{"hold [flags]"},
		About:    "Holds your mailbox. Receivers and take leave what is queued until unhold. Others may go on sending. Never waits.",
		Flags:    []cli.Flag{},
		Examples: []string{"xfer-inbox hold", "xfer-inbox --as reviewer hold", "xfer-inbox hold && xfer-inbox peers \"$XFER_NAME\""},
		Statuses: []int{67, 75},
		Run:      func(c *tool.Call) error { return setHold(c, true) },
	}
}

func unholdVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "unhold",
		Synopsis: []string{"unhold [flags]"},
		About:    "Ends what hold began: what is queued is received again. Never waits.",
		Examples: []string{"xfer-inbox unhold", "xfer-inbox --as reviewer unhold", "xfer-inbox unhold && xfer-inbox take"},
		Statuses: []int{67, 75},
		Run:      func(c *tool.Call) error { return setHold(c, false) },
	}
}

func setHold(c *tool.Call, hold bool) error {
	x, err := Open(c)
	if err != nil {
		return err
	}
	m, err := x.mailbox()
	if err != nil {
		return err
	}
	was := false
	if err := m.ChangePeer(c.Ctx, func(p *spool.Peer) { was, p.Hold = p.Hold, hold }); err != nil {
		return x.PeerError(c.Verb, x.Name, err)
	}
	switch {
	case hold && was:
		x.Err.Say("mailbox %q was on hold already", x.Name)
	case hold:
		x.Err.Say("mailbox %q is on hold: '%s' ends that", x.Name, x.typed("unhold"))
	case was:
		x.Err.Say("mailbox %q is no longer on hold", x.Name)
	default:
		x.Err.Say("mailbox %q was not on hold", x.Name)
	}
	return nil
}

func policyVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "policy",
		Synopsis: []string{"policy [flags] [all | only NAME…]"},
		About: "Shows or sets who may send to you, and how much may be queued. A courtesy between one user's programs: " +
			"a sender's name is its own word. Never waits.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "max-queued", Usage: "refuse more once `N` are queued; 0: any number"},
		},
		Max: -1,
		Examples: []string{
			"xfer-inbox policy",
			"xfer-inbox policy only alice ci",
			"xfer-inbox policy all --max-queued 100",
		},
		Statuses: []int{65, 67, 75},
		Run:      policy,
	}
}

// A policyRecord is who may send, and how much.
type policyRecord struct {
	Policy    string       `json:"policy"`
	Only      []spool.Name `json:"only,omitempty"`
	MaxQueued int          `json:"max_queued,omitempty"`
}

func policy(c *tool.Call) error {
	only, given, err := policyArguments(c.Arguments)
	if err != nil {
		return err
	}
	limit := c.Int("max-queued")
	if limit < 0 {
		return tool.Usage("flag \"--max-queued\": not a number of handoffs")
	}
	x, err := Open(c)
	if err != nil {
		return err
	}
	m, err := x.mailbox()
	if err != nil {
		return err
	}
	if !given && !c.IsSet("max-queued") {
		return x.showPolicy(m)
	}
	if err := m.MendPeer(c.Ctx, func(p *spool.Peer) {
		if given {
			p.Only = only
		}
		if c.IsSet("max-queued") {
			p.MaxQueued = limit
		}
	}); err != nil {
		return x.PeerError("set policy of", x.Name, err)
	}
	x.Err.Say("set the policy of %q", x.Name)
	for _, n := range only {
		if _, err := x.Spool.Mailbox(n); errors.Is(err, spool.ErrNoPeer) {
			x.Err.Say("there is no peer %q yet", n)
		}
	}
	return nil
}

// policyArguments reads "all" or "only NAME…".
func policyArguments(args []string) (only []spool.Name, given bool, err error) {
	switch {
	case len(args) == 0:
		return nil, false, nil
	case args[0] == "all" && len(args) == 1:
		return nil, true, nil
	case args[0] != "only" || len(args) == 1:
		return nil, false, tool.Usage("a policy is \"all\", or \"only\" and names")
	}
	for _, arg := range args[1:] {
		n, err := spool.ParseName(arg)
		if err != nil {
			return nil, false, err
		}
		only = append(only, n)
	}
	return only, true, nil
}

func (c *Caller) showPolicy(m *spool.Mailbox) error {
	p, err := m.Peer()
	if err != nil {
		return c.PeerError("read policy of", c.Name, err)
	}
	r := &policyRecord{Policy: "all", Only: p.Only, MaxQueued: p.MaxQueued}
	value, limit := "all", "any number"
	if len(p.Only) > 0 {
		names := make([]string, len(p.Only))
		for i, n := range p.Only {
			names[i] = string(n)
		}
		r.Policy, value = "only", "only "+strings.Join(names, " ")
	}
	if p.MaxQueued > 0 {
		limit = strconv.Itoa(p.MaxQueued)
	}
	return c.write(r, []pair{{"policy", value}, {"max_queued", limit}})
}

func removeVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "remove",
		Synopsis: []string{"remove [flags] PEER"},
		About: "Removes a peer and what it has finished. What arrives for it later is refused, until create. " +
			"Asks first. Refused while a receiver lives or anything is unfinished.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "do not ask"}},
		Min:   1, Max: 1,
		Examples: []string{
			"xfer-inbox remove reviewer",
			"xfer-inbox remove --yes old-worker",
			"xfer-inbox --as reviewer create   # lifts the tombstone",
		},
		Statuses: []int{67, 75},
		Run:      removePeer,
	}
}

func removePeer(c *tool.Call) error {
	n, err := spool.ParseName(c.Arguments[0])
	if err != nil {
		return err
	}
	x, err := Open(c)
	if err != nil {
		return err
	}
	m, err := x.Spool.Mailbox(n)
	if err != nil {
		return x.PeerError("remove", n, err)
	}
	if err := c.Confirm("remove peer " + strconv.Quote(string(n)) + " and all it has finished?"); err != nil {
		return err
	}
	if err := m.Remove(c.Ctx); err != nil {
		return x.PeerError("remove", n, err)
	}
	x.Err.Say("removed %q", n)
	return nil
}
