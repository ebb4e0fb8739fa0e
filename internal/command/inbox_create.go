package command

import (
	"errors"
	"os/user"
	"strconv"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

func createVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "create",
		Synopsis: []string{"create [flags]"},
		About:    "Makes your own mailbox, and the spool where there is none. That it is there already is no error. Never waits.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "describe", Usage: "`TEXT` on what the peer does; at most 500 characters"},
		},
		Examples: []string{
			"xfer-inbox create",
			"xfer-inbox --as reviewer create --describe 'reviews Go changes'",
			"XFER_NAME=reviewer xfer-inbox create",
		},
		Statuses: []int{75},
		Run:      create,
	}
}

func create(c *tool.Call) error {
	text, err := description(c)
	if err != nil {
		return err
	}
	x, err := OpenOrCreate(c)
	if err != nil {
		return err
	}
	_, made, err := x.Spool.Create(c.Ctx, x.Name, text)
	if e := (*spool.Error)(nil); errors.As(err, &e) && e.Op != "" {
		return err // it says already which mailbox it speaks of
	}
	if err != nil {
		return &spool.Error{Op: "create", Name: string(x.Name), Err: err}
	}
	switch {
	case made:
		tellCreated(c, x.Name)
	case text != "":
		x.Err.Say("described mailbox %q", x.Name)
	}
	return nil
}

// description reads --describe.
func description(c *tool.Call) (string, error) {
	text := c.String("describe")
	if n := utf8.RuneCountInString(text); n > spool.MaxDescription {
		return "", tool.Usage("flag \"--describe\": it has " + strconv.Itoa(n) + " characters, at most " + strconv.Itoa(spool.MaxDescription))
	}
	if OneLine(text) != text {
		return "", tool.Usage("flag \"--describe\": one line without control characters")
	}
	return text, nil
}

func initVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "init",
		Synopsis: []string{"init [flags]"},
		About: "Makes a spool. It may be where nothing is, in an empty directory, or in a new Syncthing folder. " +
			"On a spool it completes what this host lacks. Never waits.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "shared", Usage: "for the users of `GROUP`, whatever their umask"},
		},
		Examples: []string{
			"xfer-inbox init",
			"xfer-inbox init --spool ~/Sync/spool",
			"xfer-inbox init --spool /srv/spool && ls -l /srv/spool",
		},
		Statuses: []int{75},
		Run:      initSpool,
	}
}

func initSpoolAt(c *tool.Call, dir string) (*spool.Spool, error) {
	if !c.IsSet("shared") {
		return spool.Init(dir, c.Process.System)
	}
	g, err := user.LookupGroup(c.String("shared"))
	if err != nil {
		return nil, tool.Usage("flag \"--shared\": no group " + strconv.Quote(c.String("shared")))
	}
	gid, err := strconv.Atoi(g.Gid)
	if err != nil {
		return nil, err
	}
	return spool.InitShared(dir, c.Process.System, gid)
}

func initSpool(c *tool.Call) error {
	dir, _, err := c.SpoolDir()
	if err != nil {
		return err
	}
	s, err := initSpoolAt(c, dir)
	if err != nil {
		return err
	}
	c.Err.Say("spool %q is ready", s.Dir())
	return nil
}
