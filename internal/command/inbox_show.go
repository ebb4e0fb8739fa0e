package command

import (
	"io"
	"strconv"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

func showVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "show",
		Synopsis: []string{"show [flags] ID"},
		About:    "Shows a handoff as it lies on disk. It may stand anywhere in the spool. Never waits, never consumes.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "body", Usage: "the body only"},
			&cli.BoolFlag{Name: "header", Usage: "the header only"},
			QuoteFlag(),
			&cli.Int64Flag{Name: "offset", Usage: "begin after `N` bytes of what is shown"},
			&cli.Int64Flag{Name: "length", Usage: "show at most `N` bytes"},
		},
		Min: 1, Max: 1,
		Examples: []string{
			"xfer-inbox show --quote 01kb9w6t3v8f5s7q2m4x0c1d9e",
			"xfer-inbox show --body c1d9e | less",
			"xfer-inbox show --body --offset 65536 --length 65536 c1d9e",
		},
		Statuses: []int{65, 66, 75},
		Run:      show,
		Brief:    true,
	}
}

func show(c *tool.Call) error {
	if c.Bool("body") && c.Bool("header") {
		return tool.Usage("flags \"--body\" and \"--header\": only one of them")
	}
	sliced := c.IsSet("offset") || c.IsSet("length")
	if c.Bool("quote") && (sliced || c.Bool("body") || c.Bool("header")) {
		return tool.Usage("flag \"--quote\": it shows header and body whole")
	}
	if c.Out.JSON() && (sliced || c.Bool("header") || c.Bool("quote")) {
		return tool.Usage("flag \"--json\": it shows header and body whole")
	}
	for _, flag := range []string{"offset", "length"} {
		if c.Int64(flag) < 0 {
			return tool.Usage("flag " + strconv.Quote("--"+flag) + ": not a number of bytes")
		}
	}
	if _, err := spool.ParseIDPart(c.Arguments[0]); err != nil {
		return err
	}
	x, err := Open(c)
	if err != nil {
		return err
	}
	id, err := x.resolveAny(c.Arguments[0])
	if err != nil {
		return err
	}
	f, at, err := x.Spool.OpenAny(id)
	if err != nil {
		return lyingAt(at, onID("show", id, err))
	}
	defer f.Close()
	isUTF8, err := f.Verify()
	if err != nil {
		return lyingAt(at, onID("show", id, err))
	}
	switch {
	case c.Out.JSON():
		run, found := x.Spool.RunOf(id)
		if !found {
			return x.writeObject(newHandoffRecord(&f.Header, at.Place, at.Path, nil), f, isUTF8)
		}
		return x.writeObject(newHandoffRecord(&f.Header, at.Place, at.Path, &run), f, isUTF8)
	case c.Bool("quote"):
		return x.writeQuoted(f)
	}
	return x.WriteBody(slice(c, f))
}

// lyingAt says with err which file to look at, where there is one.
func lyingAt(at spool.Sighting, err error) error {
	if at.Path == "" {
		return err
	}
	return tool.WithHint(err, "it lies at "+at.Path)
}

// slice is the part of f that the flags ask for.
func slice(c *tool.Call, f *spool.File) io.Reader {
	r := f.Raw()
	switch {
	case c.Bool("body"):
		r = f.Body()
	case c.Bool("header"):
		r = f.RawHeader()
	}
	from := min(c.Int64("offset"), r.Size())
	length := r.Size() - from
	if c.IsSet("length") {
		length = min(length, c.Int64("length"))
	}
	return io.NewSectionReader(r, from, length)
}
