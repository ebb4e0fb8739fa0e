package command

import (
	"errors"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

func takeVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "take",
		Synopsis: []string{"take [flags] [ID]"},
		About: "Takes the oldest handoff that fits, or ID. Its body goes to standard output, then it is consumed. " +
			"A task then owes its conclusion. Waits only with --wait; nothing there: 1.",
		Flags: append(filterFlags(),
			waitFlag("until there is one, at most `DURATION`"),
			&cli.BoolFlag{Name: "all", Usage: "all that is there; with --json or --dir"},
			&cli.StringFlag{Name: "dir", Usage: "write each body to a file in `DIR`"},
			QuoteFlag(),
			&cli.StringFlag{Name: "by", Usage: "`TEXT`: who takes it; default $XFER_WORKER"},
			takeoverFlag(),
		),
		Max: 1,
		Examples: []string{
			"xfer-inbox take > job.md",
			"xfer-inbox take --wait 1h --kind task --label urgent",
			"xfer-inbox take --all --json | jq -r .subject",
		},
		Statuses: []int{1, 65, 66, 67, 73, 75, 79},
		Run:      take,
		Brief:    true,
	}
}

// A taking is one run of take.
type taking struct {
	*Caller
	m      *spool.Mailbox
	filter spool.Filter
	limit  int // 0: all
	dir    string
	by     string
}

func take(c *tool.Call) error {
	t, err := newTaking(c)
	if err != nil {
		return err
	}
	for _, typed := range c.Arguments {
		if _, err := spool.ParseIDPart(typed); err != nil {
			return err
		}
	}
	if t.Caller, err = Open(c); err != nil {
		return err
	}
	if t.m, err = t.mailbox(); err != nil {
		return err
	}
	if err := t.m.MayWork(c.Ctx, c.Bool("takeover")); err != nil {
		return err
	}
	if len(c.Arguments) > 0 {
		return t.one(c.Arguments[0])
	}
	taken, err := t.until(t.m, t.look)
	if err != nil {
		return err
	}
	if !taken {
		if p, err := t.m.Peer(); err == nil && p.Hold {
			t.Err.Say("mailbox %q is on hold: '%s' lets it be taken from", t.Name, t.typed("unhold"))
		}
		return tool.Exit(1)
	}
	return nil
}

func newTaking(c *tool.Call) (*taking, error) {
	t := &taking{dir: c.String("dir"), by: c.String("by")}
	var err error
	if t.filter, t.limit, err = filter(c); err != nil {
		return nil, err
	}
	if t.by == "" {
		t.by = c.Process.System.Env("XFER_WORKER")
	}
	if t.by, err = spool.ParseValue("by", t.by); err != nil {
		return nil, err
	}
	if t.dir != "" || c.Bool("all") {
		c.CatchSignals() // it may take its time, and has temp files to remove
	}
	if len(c.Arguments) > 0 && (t.limit > 0 || c.Bool("all") || c.IsSet("wait")) {
		return nil, tool.Usage("an ID is taken by itself, without \"--all\", \"--limit\" or \"--wait\"")
	}
	if c.IsSet("dir") && (t.dir == "" || c.Bool("quote")) {
		return nil, tool.Usage("flag \"--dir\": it takes a directory, and bodies as they are")
	}
	if err := isDirectory(t.dir); err != nil {
		return nil, err
	}
	switch several := c.Bool("all") || t.limit > 1; {
	case several && !c.Out.JSON() && t.dir == "":
		return nil, tool.WithHint(tool.Usage("several bodies in a row could not be told apart"), "give --json, or --dir DIR")
	case c.Out.JSON() && c.Bool("quote"):
		return nil, tool.Usage("flag \"--json\": without \"--quote\"")
	case c.Bool("all"):
	case t.limit == 0:
		t.limit = 1
	}
	return t, nil
}

// isDirectory finds out before anything is taken that bodies can go to dir,
// where one is given.
func isDirectory(dir string) error {
	if dir == "" {
		return nil
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return &spool.Error{Op: "write to", Name: dir, Err: spool.Because(tool.ErrNoFile, "no such directory"),
			Hint: "mkdir -p " + tool.ShellWord(dir)}
	case err != nil:
		return err
	case !info.IsDir():
		return &spool.Error{Op: "write to", Name: dir, Err: spool.Because(tool.ErrNoFile, "not a directory")}
	}
	return nil
}

// look takes what is due: one scan, worked off.
func (t *taking) look() (found, busy bool, err error) {
	q, err := t.m.Queue(t.filter)
	if err != nil {
		return false, false, onMailbox(t.m, err)
	}
	for n := 0; t.limit == 0 || n < t.limit; {
		// Whose mailbox it is may have changed while this was waiting, or at work.
		if err := t.m.MayWork(t.Ctx, false); err != nil {
			return found, false, err
		}
		together := takeTogether
		if t.limit > 0 {
			together = min(together, t.limit-n)
		}
		claims, err := q.NextGroup(t.Ctx, together)
		t.notes(q.Notes())
		if err != nil {
			return found, false, err
		}
		if len(claims) == 0 {
			return found, q.Busy() > 0, nil
		}
		if err := t.handOut(claims); err != nil {
			return found, false, err
		}
		found = true
		n += len(claims)
	}
	return found, false, nil
}

func onMailbox(m *spool.Mailbox, err error) error {
	return &spool.Error{Op: "open mailbox", Name: string(m.Name()), Err: err}
}

func (t *taking) one(typed string) error {
	id, err := t.resolve(t.m, "take", typed)
	if err != nil {
		return err
	}
	c, err := t.m.ClaimID(t.Ctx, id)
	if err != nil {
		return onID("take", id, t.whose(id, err))
	}
	if !t.filter.Match(&c.Header) {
		c.Release()
		return onID("take", id, spool.Because(spool.ErrNoHandoff, "it is there, and does not fit the flags"))
	}
	return t.handOut([]*spool.Claim{c})
}

func (t *taking) write(c *spool.Claim) error {
	now := t.Process.System.Now().UTC()
	state := spool.Finished
	if c.Kind == spool.Task {
		state = spool.Work
	}
	record := newHandoffRecord(&c.Header, state, t.m.Path(state, c.ID), &spool.Run{TakenBy: t.by, TakenAt: now})
	switch {
	case t.dir != "":
		path, err := t.Spool.Export(c.File, t.dir)
		if err != nil {
			return err
		}
		record.Path = path
		if err := t.Out.Write(&exportRecord{record}); err != nil {
			return err
		}
		return t.Out.Flush()
	case t.Out.JSON():
		return t.addObject(record, c.File, c.IsUTF8())
	case t.Bool("quote"):
		return t.writeQuoted(c.File)
	}
	return t.WriteBody(c.Body())
}

// An exportRecord is a handoff whose body lies in a file now: its text is that
// file's path behind the columns of a list, and what it answers, which for a
// conclusion is the task.
type exportRecord struct{ *handoffRecord }

func (r *exportRecord) Fields() []any {
	return append(r.handoffRecord.Fields(), r.Path, string(r.InReplyTo))
}
