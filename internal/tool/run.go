package tool

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
)

// Version is what --version prints; the build sets it.
var Version = "devel"

// Run runs p in pr and returns its exit status. Nothing is left running but a
// read of standard input that was given up.
func Run(p *Program, pr *Process) int { return RunContext(context.Background(), p, pr) }

// RunContext is Run with a context whose end asks the verb to come to an end.
// A verb that returns the context's error then ends without a word.
func RunContext(ctx context.Context, p *Program, pr *Process) int {
	var argv []string
	if len(pr.Args) > 0 {
		argv = pr.Args[1:]
	}
	l, err := parse(p, argv)
	talk := newTalk(p.Name, pr, l)
	out := newOutput(pr, talk, l.json)
	switch {
	case l.help:
		_, err = io.WriteString(out.Raw(), help(p, l.verb))
	case err != nil:
	case l.version:
		_, err = io.WriteString(out.Raw(), p.Name+" "+Version+"\n")
	default:
		err = runVerb(ctx, p, pr, l, out, talk)
	}
	return settle(ctx, out, talk, err)
}

// settle flushes, says what went wrong, and returns the exit status.
func settle(ctx context.Context, out *Output, talk *Talk, err error) int {
	flushed := out.Flush()
	status := account(ctx, talk, err)
	if flushed == nil || errors.Is(err, ErrOutput) || talk.lost {
		return status
	}
	// A silent status stands for an answer, and that has not arrived.
	var quiet exit
	if lost := account(ctx, talk, flushed); err == nil || errors.As(err, &quiet) {
		return lost
	}
	return status
}

// account says what went wrong, where that is something to say, and returns
// the status it stands for.
func account(ctx context.Context, talk *Talk, err error) int {
	var quiet exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &quiet):
		return int(quiet)
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		var why interrupted
		if errors.As(context.Cause(ctx), &why) {
			return signalled + int(why.signal)
		}
		return signalled + int(syscall.SIGINT)
	case errors.Is(err, ErrOutput) && errors.Is(err, syscall.EPIPE):
		return signalled + int(syscall.SIGPIPE)
	}
	talk.Report(err)
	return ClassOf(err).Status
}

// runVerb hands the flags to urfave/cli in an order it cannot misread, and
// runs the verb.
func runVerb(ctx context.Context, p *Program, pr *Process, l *line, out *Output, talk *Talk) error {
	app := &cli.App{
		Name:                      p.Name,
		Compiled:                  time.Unix(1, 0), // else it looks at its own binary
		Flags:                     l.relevant(),
		HideHelp:                  true,
		HideHelpCommand:           true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		Reader:                    pr.Stdin,
		Writer:                    io.Discard,
		ErrWriter:                 io.Discard,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError: func(_ *cli.Context, err error, _ bool) error {
			return l.valueError(err)
		},
		Action: func(cc *cli.Context) error {
			c := &Call{
				Context:   cc,
				Ctx:       ctx,
				Process:   pr,
				Program:   p.Name,
				Verb:      l.verb.Name,
				Arguments: l.args,
				Command:   l.command,
				Out:       out,
				Err:       talk,
			}
			if !l.verb.Brief {
				c.CatchSignals()
			}
			return l.verb.Run(c)
		},
	}
	return app.RunContext(ctx, append([]string{p.Name}, l.argv()...))
}
