// Package command is the programs as values: what each says of itself, its
// flags, and a run function per verb. A program has a file of its own, and a
// verb too where it grows. Programs that bring much along, board and gc, are
// packages below, so that a send does not start with it.
package command

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"xfer/internal/tool"
	"xfer/spool"
)

// A Caller is who calls, and in which spool.
type Caller struct {
	*tool.Call
	Name  spool.Name
	Spool *spool.Spool
	told  map[string]bool // the notes so far
}

// Open opens the caller's spool, which must be there.
func Open(c *tool.Call) (*Caller, error) { return openBy(c, spool.Open) }

// OpenOrCreate opens the caller's spool, and makes it where nothing is there.
func OpenOrCreate(c *tool.Call) (*Caller, error) { return openBy(c, spool.OpenOrCreate) }

func openBy(c *tool.Call, how func(string, *spool.System) (*spool.Spool, error)) (*Caller, error) {
	me, _, err := c.Me()
	if err != nil {
		return nil, err
	}
	dir, _, err := c.SpoolDir()
	if err != nil {
		return nil, err
	}
	s, err := how(dir, c.Process.System)
	if e := (*spool.Error)(nil); errors.As(err, &e) && c.IsSet("as") {
		e.Hint = strings.Replace(e.Hint, "'xfer-inbox create'", "'xfer-inbox --as "+string(me)+" create'", 1)
	}
	if err != nil {
		return nil, err
	}
	tellMade(c, s)
	return &Caller{c, me, s, make(map[string]bool)}, nil
}

// tellMade says that there was no spool yet.
func tellMade(c *tool.Call, s *spool.Spool) {
	if s.Made() {
		c.Err.Say("created spool %q", s.Dir())
	}
}

// tellCreated says that n had no mailbox yet.
func tellCreated(c *tool.Call, n spool.Name) { c.Err.Say("created mailbox %q", n) }

// typed is how the caller types a verb of xfer-inbox on the own mailbox: with
// --as only where that is how they said who they are.
func (c *Caller) typed(verb string) tool.Command { return c.typedAs(c.Name, verb) }

// typedAs is typed on the mailbox n, one of the caller's own.
func (c *Caller) typedAs(n spool.Name, verb string) tool.Command {
	if c.IsSet("as") {
		verb = "--as " + string(n) + " " + verb
	}
	return tool.Command("xfer-inbox " + verb)
}

// ends is what ends the task id in the mailbox n.
func (c *Caller) ends(n spool.Name, id spool.ID) tool.Command {
	return c.typedAs(n, "conclude "+string(id)+" done < FILE")
}

// mailbox is the caller's own.
func (c *Caller) mailbox() (*spool.Mailbox, error) { return c.mailboxOf(c.Name) }

func (c *Caller) mailboxOf(n spool.Name) (*spool.Mailbox, error) {
	m, err := c.Spool.Mailbox(n)
	if err == nil {
		err = m.Removed()
	}
	if err != nil {
		return nil, c.PeerError("open mailbox", n, err)
	}
	return m, nil
}

// PeerError names the peer, and where there is none of that name, one that is
// near or the way to all of them.
func (c *Caller) PeerError(op string, n spool.Name, err error) error {
	err = &spool.Error{Op: op, Name: string(n), Err: err}
	if !errors.Is(err, spool.ErrNoPeer) {
		return err
	}
	peers, perr := c.Spool.Peers()
	if perr != nil {
		return err
	}
	names := make([]string, len(peers))
	for i, p := range peers {
		names[i] = string(p)
	}
	if near := tool.Near(string(n), names); near != "" && near != string(n) {
		return tool.WithHint(err, "did you mean "+strconv.Quote(near)+"? 'xfer-inbox peers' lists them")
	}
	if n == c.Name {
		return tool.WithHint(err, "'"+string(c.typed("create"))+"' makes your own")
	}
	return tool.WithHint(err, "'xfer-inbox peers' lists them")
}

// resolve reads what was typed for an id as one in the mailbox; op is what is
// to be done to it.
func (c *Caller) resolve(m *spool.Mailbox, op, typed string) (spool.ID, error) {
	part, err := spool.ParseIDPart(typed)
	if err != nil {
		return "", err
	}
	id, err := m.Resolve(part)
	if errors.Is(err, spool.ErrNoHandoff) {
		if other, aerr := c.Spool.ResolveAny(part); aerr == nil {
			return "", onID(op, other, c.whose(other, err))
		}
	}
	return id, err
}

// resolveAny reads what was typed for an id as one anywhere in the spool.
func (c *Caller) resolveAny(typed string) (spool.ID, error) {
	part, err := spool.ParseIDPart(typed)
	if err != nil {
		return "", err
	}
	return c.Spool.ResolveAny(part)
}

// resolveSent reads what was typed for an id as one that this host sent, or one
// anywhere in the spool.
func (c *Caller) resolveSent(typed string) (spool.ID, error) {
	part, err := spool.ParseIDPart(typed)
	if err != nil {
		return "", err
	}
	if id, err := c.Spool.ResolveSent(c.Ctx, part); err == nil || !errors.Is(err, spool.ErrNoHandoff) {
		return id, err
	}
	return c.Spool.ResolveAny(part)
}

// onID says of what was tried on which id.
func onID(op string, id spool.ID, err error) error {
	if e := (*spool.Error)(nil); err == nil || errors.As(err, &e) && e.Op == op {
		return err
	}
	return &spool.Error{Op: op, Name: string(id), Err: err}
}

// notes tells what a reader passed over, each thing once however often it
// looks.
func (c *Caller) notes(lines []string) {
	for _, line := range lines {
		if !c.told[line] {
			c.told[line] = true
			c.Err.Say("%s", line)
		}
	}
}

func sortedIDs(all map[spool.ID]bool) []spool.ID { return slices.Sorted(maps.Keys(all)) }
