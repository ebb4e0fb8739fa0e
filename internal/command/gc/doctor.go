package gccmd

import (
	"errors"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
	"xfer/spool/reap"
)

func doctorVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "doctor",
		Synopsis: []string{"doctor [flags]"},
		About: "Looks at the whole spool and tells what is wrong. One line a finding, with what to type: " +
			"check, severity, path, message, remedy. Never waits, never consumes. 65 with a warning or an error.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "deep", Usage: "read every body and check its digest"},
			&cli.BoolFlag{Name: "repair", Usage: "mend modes, local/, .stignore; free conclusions' ids"},
		},
		Examples: []string{
			"xfer-gc doctor",
			"xfer-gc doctor --deep --json | jq -r .message",
			"xfer-gc doctor --repair",
		},
		Statuses: []int{65},
		Run:      doctor,
	}
}

// A findingRecord is one thing that doctor has to say.
type findingRecord struct {
	Check    string         `json:"check"`
	Severity spool.Severity `json:"severity"`
	Path     string         `json:"path"`
	Message  string         `json:"message"`
	Remedy   string         `json:"remedy,omitempty"`
}

func (r *findingRecord) Fields() []any {
	return []any{r.Check, string(r.Severity), r.Path, r.Message, r.Remedy}
}

func doctor(c *tool.Call) error {
	s, err := openForDoctor(c)
	if err != nil {
		return doctorRefused(c, err)
	}
	bad := false
	d := &reap.Doctor{S: s, Now: c.Process.System.Now, Home: c.Process.System.Env("HOME"), Deep: c.Bool("deep"), Reach: c.Reach()}
	if c.Bool("repair") {
		did, err := d.Repair(c.Ctx)
		for _, line := range did {
			c.Err.Say("%s", line)
		}
		if err != nil {
			return &spool.Error{Op: "repair", Name: s.Dir(), Err: err}
		}
	}
	var lost error
	d.Tell = func(f reap.Finding) {
		bad = bad || f.Severity != spool.Note
		if err := c.Out.Write(&findingRecord{f.Check, f.Severity, f.Path, f.Message.String(), f.Remedy}); lost == nil {
			lost = err
		}
	}
	if err := d.Run(c.Ctx); err != nil {
		return &spool.Error{Op: "look at", Name: s.Dir(), Err: err}
	}
	if lost == nil && bad {
		lost = tool.Exit(65)
	}
	return lost
}

// openForDoctor opens the spool; with --repair it first sets the spool's own
// mode, and adopts a local/ that belongs to this machine under another name, or
// does not say whose it is.
func openForDoctor(c *tool.Call) (*spool.Spool, error) {
	dir, _, err := c.SpoolDir()
	if err != nil {
		return nil, err
	}
	s, err := spool.Open(dir, c.Process.System)
	if c.Bool("repair") && errors.Is(err, spool.ErrModes) {
		if merr := spool.RepairSpoolMode(dir, c.Process.System); merr != nil {
			return nil, merr
		}
		c.Err.Say("set the mode of the spool")
		s, err = spool.Open(dir, c.Process.System)
	}
	if err != nil && c.Bool("repair") && (errors.Is(err, spool.ErrConfig) || errors.Is(err, spool.ErrOwnFile)) {
		if aerr := spool.Adopt(dir, c.Process.System); aerr != nil {
			return nil, aerr
		}
		c.Err.Say("adopted local/ for this host")
		return spool.Open(dir, c.Process.System)
	}
	return s, err
}

// doctorRefused tells as a finding what keeps every program out: the modes,
// the owner, the format, or whose local/ is.
func doctorRefused(c *tool.Call, err error) error {
	for _, sentinel := range []error{spool.ErrModes, spool.ErrOwner, spool.ErrVersion, spool.ErrConfig, spool.ErrOwnFile} {
		if !errors.Is(err, sentinel) {
			continue
		}
		r := &findingRecord{Check: "open", Severity: spool.Fault, Path: ".", Message: err.Error()}
		if e := (*spool.Error)(nil); errors.As(err, &e) {
			r.Message, r.Remedy = e.Err.Error(), e.Hint
		}
		if sentinel == spool.ErrOwnFile { //nolint:errorlint // it is the one that was found
			r.Remedy = "xfer-gc" + c.Reach() + " doctor --repair"
		}
		if werr := c.Out.Write(r); werr != nil {
			return werr
		}
		return tool.Exit(65)
	}
	return err
}
