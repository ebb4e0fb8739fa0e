package command

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

// A waiting waits for the conclusions of tasks and hands them out as they
// come. The tasks' waiters' locks are held by whoever made it.
type waiting struct {
	*Caller
	m        *spool.Mailbox
	open     []openTask
	dir      string // where the bodies go as files; empty: standard output
	quote    bool
	limit    time.Duration // 0: as long as it takes
	failures *tool.Failures
}

// An openTask is a task that the caller sent.
type openTask struct {
	id spool.ID
	to spool.Name
}

// lookAgainSoon is for what another process has in its hands for a moment.
const lookAgainSoon = 20 * time.Millisecond

var errTimeUp = errors.New("time is up")

// run waits until every task is concluded, or the time is up (1). The exit
// status is the first that is not 0.
func (w *waiting) run() error {
	ctx := w.Ctx
	if w.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, w.limit, errTimeUp)
		defer cancel()
	}
	// What is there already needs no watch.
	for watch := (*spool.Watch)(nil); ; {
		pause := w.look()
		if len(w.open) == 0 {
			return w.failures.Err()
		}
		err := context.Cause(ctx)
		switch {
		case err != nil:
		case watch == nil:
			watch = w.m.Watch()
			defer watch.Close()
			continue // what came before the watch is not told by it
		default:
			_, err = watch.Wait(ctx, pause)
		}
		if errors.Is(err, errTimeUp) {
			w.timeUp()
			return w.failures.Err()
		}
		if err != nil {
			return err
		}
	}
}

// An openRecord is a task that is still open when the time is up.
type openRecord struct {
	ID         spool.ID   `json:"id"`
	To         spool.Name `json:"to"`
	Conclusion string     `json:"conclusion"`
}

// Fields are none: only --json tells it on standard output.
func (r *openRecord) Fields() []any { return nil }

func (w *waiting) timeUp() {
	for _, t := range w.open {
		if w.Out.JSON() {
			w.failures.Add(w.Out.Write(&openRecord{t.id, t.to, "open"}))
		}
		w.Err.Always("%s is still open after %s", t.id, shortDuration(w.limit.Round(time.Millisecond)))
		w.failures.Add(tool.Exit(1))
	}
}

// look hands out what has come, and says how soon to look again.
func (w *waiting) look() (pause time.Duration) {
	pause = lookAgain
	var open []openTask
	for _, t := range w.open {
		a, again, err := w.m.Conclusion(t.id, t.to)
		switch {
		case err != nil:
			w.failures.Add(onID("await", t.id, err))
		case a != nil:
			w.failures.Add(w.handOut(a))
		default:
			open = append(open, t)
			if again {
				pause = lookAgainSoon
			}
		}
	}
	w.open = open
	return pause
}

// handOut hands out one conclusion, and exits as it says.
func (w *waiting) handOut(a *spool.Awaited) error {
	defer a.Close()
	if err := w.write(a); err != nil {
		return onID("await", a.InReplyTo, err)
	}
	if err := a.Finish(); err != nil {
		return onID("await", a.InReplyTo, spool.Because(err, err.Error()+"; its conclusion was handed out, and may be offered again"))
	}
	w.Err.Say("%s was concluded %s by %s", a.InReplyTo, a.Ending, a.From)
	switch a.Ending {
	case spool.Blocked:
		return tool.Exit(80)
	case spool.NeedsInput:
		return tool.Exit(81)
	}
	return nil
}

func (w *waiting) write(a *spool.Awaited) error {
	r := newHandoffRecord(&a.Header, spool.Finished, w.m.Path(spool.Finished, a.ID), nil)
	switch {
	case w.dir != "":
		path, err := w.Spool.Export(a.File, w.dir)
		if err != nil {
			return err
		}
		r.Path = path
		if err := w.Out.Write(&exportRecord{r}); err != nil {
			return err
		}
		return w.Out.Flush()
	case w.Out.JSON():
		return w.writeObject(r, a.File, a.IsUTF8())
	case w.quote:
		return w.writeQuoted(a.File)
	}
	return w.WriteBody(a.Body())
}

func awaitVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "await",
		Synopsis: []string{"await [flags] ID…"},
		About: "Waits for the conclusions of tasks you sent, and hands them out. It finds them wherever they stand, also a second time. " +
			"Consumes them. Exits as they say: done 0, blocked 80, needs-input 81; still open: 1.",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "timeout", Usage: "wait at most `DURATION`"},
			&cli.StringFlag{Name: "dir", Usage: "write each body to a file in `DIR`, which is there"},
			QuoteFlag(),
		},
		Min: 1, Max: -1,
		Examples: []string{
			"xfer-inbox await 01kb9w6t3v8f5s7q2m4x0c1d9e > result.md",
			"xfer-inbox await --timeout 10m c1d9e || echo \"not done: $?\"",
			"xfer-inbox sent --open | cut -f1 | xargs -r xfer-inbox await --json",
		},
		Statuses: []int{1, 65, 66, 67, 73, 75, 80, 81},
		Run:      await,
	}
}

func await(c *tool.Call) error {
	if c.Bool("quote") && (c.Out.JSON() || c.IsSet("dir")) {
		return tool.Usage("flag \"--quote\": without \"--json\" and \"--dir\"")
	}
	if c.IsSet("dir") && c.String("dir") == "" {
		return tool.Usage("flag \"--dir\": it takes a directory")
	}
	if err := isDirectory(c.String("dir")); err != nil {
		return err
	}
	if len(c.Arguments) > 1 && !c.Out.JSON() && !c.IsSet("dir") {
		return tool.WithHint(tool.Usage("several bodies in a row could not be told apart"), "give --json, or --dir DIR")
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
	m, err := x.mailbox()
	if err != nil {
		return err
	}
	w := &waiting{Caller: x, m: m, dir: c.String("dir"), quote: c.Bool("quote"), failures: c.Failures()}
	if c.IsSet("timeout") {
		w.limit = max(c.Duration("timeout"), 1) // nothing is no time, and not for ever
	}
	for _, typed := range c.Arguments {
		t, err := x.sentTask(typed)
		if err != nil {
			w.failures.Add(err)
			continue
		}
		stop, err := x.Spool.Awaiting(c.Ctx, t.id)
		if err != nil {
			return onID("await", t.id, err)
		}
		defer stop()
		w.open = append(w.open, t)
	}
	return w.run()
}

// sentTask is the task that was typed, which the caller must have sent.
func (c *Caller) sentTask(typed string) (openTask, error) {
	id, err := c.resolveSent(typed)
	if err != nil {
		return openTask{}, err
	}
	l, err := c.Spool.Locate(id)
	switch {
	case err != nil:
		return openTask{}, onID("await", id, err)
	case l.Header == nil && l.Folded != nil:
		return openTask{}, onID("await", id, spool.Because(spool.ErrNoHandoff, "it was finished, and let go"))
	case l.Header == nil:
		return openTask{}, onID("await", id, spool.Because(spool.ErrMalformed, "nothing of it can be read"))
	case l.Header.From != c.Name:
		return openTask{}, onID("await", id, spool.Because(spool.ErrRefused, "it was sent by "+string(l.Header.From)+", and you are "+string(c.Name)))
	case l.Header.Kind != spool.Task:
		return openTask{}, onID("await", id, spool.Because(spool.ErrNotATask, "only a task is concluded, and it is a "+string(l.Header.Kind)))
	}
	return openTask{id, l.Header.To}, nil
}
