package command

import (
	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

// FileFlag is --file: where the body is read from.
func FileFlag() cli.Flag {
	return &cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "the body is `FILE`; - is standard input"}
}

func takeoverFlag() cli.Flag {
	return &cli.BoolFlag{Name: "takeover", Usage: "work the mailbox from this host from now on"}
}

// QuoteFlag is --quote: what a peer wrote, marked as such.
func QuoteFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quote", Usage: "header and body, every line behind \"> \""}
}

func waitFlag(usage string) cli.Flag { return &cli.DurationFlag{Name: "wait", Usage: usage} }

// filterFlags are the same wherever handoffs are chosen.
func filterFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "from", Usage: "sent by `NAME`"},
		&cli.StringFlag{Name: "to", Usage: "addressed to `NAME`"},
		&cli.StringSliceFlag{Name: "kind", Aliases: []string{"k"}, Usage: "of `KIND`: task, notification, conclusion"},
		&cli.StringSliceFlag{Name: "label", Usage: "with label `L`; each one given must be there"},
		&cli.StringFlag{Name: "since", Usage: "sent at `TIME` or later"},
		&cli.StringFlag{Name: "before", Usage: "sent before `TIME`"},
		&cli.IntFlag{Name: "limit", Usage: "at most `N`"},
	}
}

// filter reads the filter flags.
func filter(c *tool.Call) (f spool.Filter, limit int, err error) {
	for flag, name := range map[string]*spool.Name{"from": &f.From, "to": &f.To} {
		if c.IsSet(flag) {
			if *name, err = spool.ParseName(c.String(flag)); err != nil {
				return f, 0, err
			}
		}
	}
	kinds, err := c.WordsFlag("kind", string(spool.Task), string(spool.Notification), string(spool.Conclusion))
	if err != nil {
		return f, 0, err
	}
	for _, k := range kinds {
		f.Kinds = append(f.Kinds, spool.Kind(k))
	}
	if f.Labels, err = labels(c); err != nil {
		return f, 0, err
	}
	if f.Since, err = c.TimeFlag("since"); err != nil {
		return f, 0, err
	}
	if f.Before, err = c.TimeFlag("before"); err != nil {
		return f, 0, err
	}
	limit = c.Int("limit")
	if c.IsSet("limit") && limit < 1 {
		return f, 0, tool.Usage("flag \"--limit\": at least 1")
	}
	return f, limit, nil
}

func labels(c *tool.Call) ([]spool.Label, error) {
	var all []spool.Label
	for _, s := range c.StringSlice("label") {
		l, err := spool.ParseLabel(s)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	if len(all) > spool.MaxLabels {
		return nil, tool.Usage("flag \"--label\": at most 16 labels")
	}
	return all, nil
}
