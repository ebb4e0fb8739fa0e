package command

import (
	"cmp"
	"errors"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

func concludeVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "conclude",
		Synopsis: []string{"conclude [flags] ID done|blocked|needs-input [-f FILE|< FILE]"},
		About: "Ends a task, taken or not. The conclusion goes to its sender, the task to done/. " +
			"The same again is a replay; the first conclusion stands. Waits for nothing but the body.",
		Flags: []cli.Flag{
			FileFlag(),
			&cli.StringFlag{Name: "type", Usage: "`MIME` type of the body"},
			takeoverFlag(),
		},
		Min: 2, Max: 2,
		Examples: []string{
			"xfer-inbox conclude 01kb9w6t3v8f5s7q2m4x0c1d9e done < result.md",
			"echo 'no such branch' | xfer-inbox conclude c1d9e blocked",
			"xfer-inbox conclude c1d9e needs-input -f question.md",
		},
		Statuses: []int{65, 66, 67, 73, 75, 79},
		Run:      conclude,
		Brief:    true,
	}
}

func conclude(c *tool.Call) error {
	part, err := spool.ParseIDPart(c.Arguments[0])
	if err != nil {
		return err
	}
	ending, err := spool.ParseEnding(c.Arguments[1])
	if err != nil {
		return err
	}
	typ, err := spool.ParseValue("type", c.String("type"))
	if err != nil {
		return err
	}
	body, err := c.Body()
	if err != nil {
		return err
	}
	defer body.Close()
	x, err := Open(c)
	if err != nil {
		return err
	}
	m, err := x.mailbox()
	if err != nil {
		return err
	}
	if err := m.MayWork(c.Ctx, c.Bool("takeover")); err != nil {
		return err
	}
	id, err := x.resolve(m, "conclude", string(part))
	if err != nil {
		return err
	}
	whole, mime, err := sniff(body)
	if err != nil {
		return onID("conclude", id, nothingSent(err))
	}
	w, err := m.Conclude(id, ending, spool.Draft{Type: cmp.Or(typ, mime)})
	if err != nil {
		return onID("conclude", id, x.whose(id, err))
	}
	defer w.Abort()
	if x.handles(id) {
		w.ByHandler()
	}
	if _, err := io.Copy(w, whole); err != nil {
		return onID("conclude", id, nothingSent(err))
	}
	r, moved, err := w.Commit(c.Ctx)
	if err != nil {
		return onID("conclude", id, concludeError(r, err))
	}
	if err = c.Out.Write(newOutcomeRecord(r, nil)); err == nil {
		err = c.Out.Flush()
	}
	if err != nil {
		return onID("conclude", id, spool.Because(err, string(r.ID)+" is "+string(r.Outcome)+": "+err.Error()))
	}
	x.tellConcluded(id, ending, r, moved)
	return nil
}

func (c *Caller) tellConcluded(id spool.ID, ending spool.Ending, r spool.Report, moved bool) {
	what := "concluded"
	if r.Replayed {
		what = "had concluded"
	}
	outcome := string(r.Outcome)
	if r.Detail != "" {
		outcome += ": " + r.Detail
	}
	c.Err.Say("%s %s %s: %s to %s: %s", what, id, ending, r.ID, r.To, outcome)
	switch {
	case moved:
	case c.handles(id):
		c.Err.Say("%s is moved to done/ by its receiver, when its handler ends", id)
	default:
		c.Err.Say("%s is held by another process: that one, or else the next reader, moves it to done/", id)
	}
}

// handles tells whether this process belongs to the handler of id.
func (c *Caller) handles(id spool.ID) bool {
	return c.Process.System.Env("XFER_HANDOFF_ID") == string(id)
}

func nothingSent(err error) error { return spool.Because(err, err.Error()+"; nothing was sent") }

// concludeError says what is now true.
func concludeError(r spool.Report, err error) error {
	switch {
	case errors.Is(err, spool.ErrUnknown):
		return tool.WithHint(spool.Because(err, string(r.ID)+": "+err.Error()), "'xfer-inbox status "+string(r.ID)+"' tells when it can be told")
	case errors.Is(err, spool.ErrConcluded):
		return err
	case errors.Is(err, spool.ErrConflict): // what has its id ends nothing
		return tool.WithHint(err, "'xfer-gc doctor' tells what to type")
	}
	return nothingSent(err)
}

// whose explains an id that is not in the caller's mailbox but in the spool:
// somebody else's, or one that the caller sent.
func (c *Caller) whose(id spool.ID, err error) error {
	if !errors.Is(err, spool.ErrNoHandoff) {
		return err
	}
	l, lerr := c.Spool.Locate(id)
	if lerr != nil || l.Header == nil {
		return err
	}
	if l.Folded != nil {
		return spool.Because(err, "it was finished, and let go")
	}
	if l.Header.To == c.Name {
		return err // it came meanwhile
	}
	text := "it is addressed to " + string(l.Header.To) + ", and you are " + string(c.Name)
	if l.Header.From == c.Name {
		text = "you sent it; it is " + string(l.Header.To) + "'s to take and to end"
	}
	return spool.Because(spool.ErrRefused, text)
}

func seenVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "seen",
		Synopsis: []string{"seen [flags] ID…"},
		About:    "Ends notifications and conclusions without handing them out. A task is ended by its conclusion. Never waits.",
		Flags:    []cli.Flag{takeoverFlag()},
		Min:      1, Max: -1,
		Examples: []string{
			"xfer-inbox seen 01kb9w6t3v8f5s7q2m4x0c1d9e",
			"xfer-inbox seen c1d9e 4kq2m",
			"xfer-inbox list -k notification | cut -f1 | xargs -r xfer-inbox seen",
		},
		Statuses: []int{65, 66, 67, 73, 75},
		Run:      seen,
		Brief:    true,
	}
}

func seen(c *tool.Call) error {
	return eachID(c, "end", func(x *Caller, m *spool.Mailbox, id spool.ID) error {
		ended, err := m.Seen(id)
		switch {
		case err != nil:
			return onID("end", id, x.whose(id, err))
		case ended:
			x.Err.Say("ended %s", id)
		default:
			x.Err.Say("%s had ended before", id)
		}
		return nil
	})
}

func releaseVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "release",
		Synopsis: []string{"release [flags] ID…"},
		About:    "Offers taken tasks to the next take again. Says who loses them. Never waits.",
		Flags:    []cli.Flag{takeoverFlag()},
		Min:      1, Max: -1,
		Examples: []string{
			"xfer-inbox release 01kb9w6t3v8f5s7q2m4x0c1d9e",
			"xfer-inbox list --state work",
			"xfer-inbox list --state work | cut -f1 | xargs -r xfer-inbox release",
		},
		Statuses: []int{65, 66, 67, 73, 75},
		Run:      release,
		Brief:    true,
	}
}

func release(c *tool.Call) error {
	return eachID(c, "release", func(x *Caller, m *spool.Mailbox, id spool.ID) error {
		from, err := m.Offer(x.Ctx, id)
		if err != nil {
			return onID("release", id, x.whose(id, err))
		}
		x.Err.Say("released %s: the next take offers it; it was taken %s", id, strings.TrimSpace(from))
		return nil
	})
}

// eachID does one thing, called op, to each id of the caller's mailbox that was typed; a
// failure does not stop the others.
func eachID(c *tool.Call, op string, do func(*Caller, *spool.Mailbox, spool.ID) error) error {
	for _, typed := range c.Arguments {
		if _, err := spool.ParseIDPart(typed); err != nil {
			return err
		}
	}
	x, err := Open(c)
	if err != nil {
		return err
	}
	m, err := x.mailbox()
	if err != nil {
		return err
	}
	if err := m.MayWork(c.Ctx, c.Bool("takeover")); err != nil {
		return err
	}
	failures := c.Failures()
	for _, typed := range c.Arguments {
		id, err := x.resolve(m, op, typed)
		if err == nil {
			err = do(x, m, id)
		}
		failures.Add(err)
	}
	return failures.Err()
}
