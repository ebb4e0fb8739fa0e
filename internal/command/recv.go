package command

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

const (
	// DefaultPoll is how often a watcher looks where it noticed nothing.
	DefaultPoll = 5 * time.Second
	defaultBeat = time.Minute
)

// Recv is xfer-recv.
func Recv() *tool.Program {
	return &tool.Program{
		Name:  "xfer-recv",
		About: "Hold a name and receive what is sent to it.",
		Verbs: []*tool.Verb{{
			Synopsis: []string{"[flags] [-- COMMAND [ARG…]]"},
			About: "Holds your name and announces each handoff, one line as xfer-inbox list prints it, then moves it to cur/, " +
				"where take finds it. With COMMAND: runs it for each, oldest first, the body on its standard input. " +
				"Waits for more until it is stopped.",
			Dashes: true,
			Flags: []cli.Flag{
				&cli.BoolFlag{Name: "once", Usage: "announce one handoff, then exit"},
				&cli.BoolFlag{Name: "drain", Usage: "announce what is there, then exit; for cron"},
				&cli.BoolFlag{Name: "takeover", Usage: "although another host works the mailbox"},
				&cli.StringFlag{Name: "describe", Usage: "`TEXT` on what the peer does; at most 500 characters"},
				&cli.DurationFlag{Name: "poll", Value: DefaultPoll, Usage: "look again every `DURATION` where nothing was noticed"},
				&cli.BoolFlag{Name: "conclude", Usage: "conclude tasks as COMMAND exits: 0, 80 or 81"},
				&cli.IntFlag{Name: "jobs", Value: 1, Usage: "run up to `N` at once"},
				&cli.DurationFlag{Name: "timeout", Usage: "TERM, then KILL, what runs longer than `DURATION`"},
				&cli.IntFlag{Name: "retries", Value: 2, Usage: "try again up to `N` times"},
				&cli.StringFlag{Name: "rate", Usage: "start at most `N`/s"},
				&cli.DurationFlag{Name: "grace", Value: defaultGrace, Usage: "leave `DURATION` from TERM to KILL"},
				&cli.DurationFlag{Name: "beat", Value: defaultBeat, Usage: "say every `DURATION` that it lives; 0: never"},
			},
			Examples: []string{
				"xfer-recv --as reviewer | while read -r id rest; do echo \"$id\"; done",
				"xfer-recv --as alice --as bob --once --json",
				"xfer-recv --as sorter --conclude --timeout 1m -- sort",
			},
			Statuses: []int{66, 67, 75},
			Run:      recv,
		}},
	}
}

// A receiving is one run of xfer-recv.
type receiving struct {
	*Caller
	names    []spool.Name
	holding  []*spool.Receiver
	byDir    map[string]*spool.Receiver // by the directory of new/
	onHold   map[*spool.Receiver]bool   // of which it was said
	once     bool
	drain    bool
	poll     time.Duration
	failures *tool.Failures
	handling *handling // where there is a COMMAND
}

func recv(c *tool.Call) error {
	x, err := newReceiving(c)
	if err != nil {
		return err
	}
	c.Stay()
	defer x.stop()
	if x.handling, err = newHandling(x); err != nil {
		return err
	}
	if err := x.hold(); err != nil {
		return err
	}
	if beat := c.Duration("beat"); beat > 0 && !x.drain {
		ctx, cancel := context.WithCancel(c.Ctx)
		defer cancel()
		go x.beat(ctx, beat)
	}
	if h := x.handling; h != nil {
		ctx, cancel := context.WithCancel(context.WithoutCancel(c.Ctx))
		defer cancel()
		defer h.end()
		go h.keepTelling(ctx, x.listed())
	}
	if x.drain {
		return x.drainOnce()
	}
	return x.run()
}

func newReceiving(c *tool.Call) (*receiving, error) {
	x := &receiving{once: c.Bool("once"), drain: c.Bool("drain"), poll: c.Duration("poll"), failures: c.Failures(),
		onHold: make(map[*spool.Receiver]bool)}
	if x.once && x.drain {
		return nil, tool.Usage("flags \"--once\" and \"--drain\": only one of them")
	}
	if x.poll <= 0 {
		return nil, tool.Usage("flag \"--poll\": longer than nothing")
	}
	var err error
	if x.names, _, err = c.Names(); err != nil {
		return nil, err
	}
	x.Caller = &Caller{Call: c, Name: x.names[0], told: make(map[string]bool)}
	return x, nil
}

// hold takes every name, or none; with --drain those that no live receiver
// here has.
func (x *receiving) hold() error {
	text, err := description(x.Call)
	if err != nil {
		return err
	}
	dir, _, err := x.SpoolDir()
	if err != nil {
		return err
	}
	if x.Spool, err = spool.OpenOrCreate(dir, x.Process.System); err != nil {
		return err
	}
	tellMade(x.Call, x.Spool)
	for _, n := range x.names {
		if err := x.holdOne(n, text); err != nil {
			return err
		}
	}
	return nil
}

func (x *receiving) holdOne(n spool.Name, text string) error {
	m, made, err := x.Spool.Create(x.Ctx, n, "")
	if err != nil {
		return &spool.Error{Op: "create", Name: string(n), Err: err}
	}
	if made {
		tellCreated(x.Call, n)
	}
	r, err := m.Receive(x.Ctx, spool.ReceiverOptions{Takeover: x.Bool("takeover"), Beat: x.Duration("beat")})
	if err != nil {
		if x.drain && errors.Is(err, spool.ErrLocked) {
			if held, herr := m.Held(); held && herr == nil {
				return nil // a live receiver does it
			}
		}
		return err
	}
	x.holding = append(x.holding, r)
	if text == "" {
		return nil
	}
	if _, _, err := x.Spool.Create(x.Ctx, n, text); err != nil {
		return &spool.Error{Op: "describe", Name: string(n), Err: err}
	}
	return nil
}

// stop gives up every name that is still held.
func (x *receiving) stop() {
	for _, r := range x.holding {
		if err := r.Close(); err != nil {
			x.Err.Report(&spool.Error{Op: "stop receiving as", Name: string(r.Mailbox().Name()), Err: err})
		}
	}
}

// beat says again and again that the receivers live, off the way of what
// arrives.
func (x *receiving) beat(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	holding := x.holding
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			for _, r := range holding {
				_ = r.Beat() // a sign of life that is missing tells by itself
			}
		}
	}
}

// drainOnce announces what is there and waits for nothing.
func (x *receiving) drainOnce() error {
	_, again, err := x.announce(x.everything())
	if err != nil {
		return err
	}
	left := again != later
	if x.handling != nil {
		waiting, err := x.handling.wait()
		if err != nil {
			return err
		}
		left = left || waiting
	}
	if left {
		x.failures.Add(tool.Exit(75))
	}
	return x.failures.Err()
}

// run announces until there is no more to wait for.
func (x *receiving) run() error {
	w := x.watch()
	defer w.Close()
	defer rescanOnHangup(w)()
	if x.handling != nil {
		x.handling.attach(w)
	}
	x.ready()
	defer x.tellService("STOPPING=1")
	var due []arrival
	rescanned, every := time.Time{}, x.poll
	for {
		if due == nil || time.Since(rescanned) >= every {
			due, rescanned, every = x.everything(), time.Now(), x.poll
		}
		n, again, err := x.announce(due)
		switch {
		case err != nil:
			return err
		case x.once && n > 0, len(x.holding) == 0:
			return x.ended()
		}
		pause := x.poll
		switch again {
		case inAWhile:
			pause, every = min(pause, lookAgainBusy), min(every, lookAgain)
		case atOnce:
			pause = 0
		}
		came, err := w.Wait(x.Ctx, pause)
		if err != nil {
			return err
		}
		due = x.arrivals(came)
	}
}

// ended is how it ends once there is no more to wait for but handlers.
func (x *receiving) ended() error {
	if x.handling != nil {
		if _, err := x.handling.wait(); err != nil {
			return err
		}
	}
	return x.failures.Err()
}

func (x *receiving) watch() *spool.Watch {
	var all []*spool.Mailbox
	x.byDir = make(map[string]*spool.Receiver, len(x.holding))
	for _, r := range x.holding {
		all = append(all, r.Mailbox())
		x.byDir[r.Mailbox().PlaceDir(spool.New)] = r
	}
	w := spool.WatchNew(all)
	if err := w.Err(); err != nil {
		x.Err.Say("inotify has nothing left to give (%s): looking every %s instead", err, shortDuration(x.poll))
	}
	return w
}
