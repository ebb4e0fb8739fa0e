// Package gccmd is xfer-gc. It stands apart so that the other programs do not
// start with what it alone needs.
package gccmd

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
	"xfer/spool/reap"
)

// GC is xfer-gc.
func GC() *tool.Program {
	return &tool.Program{
		Name:    "xfer-gc",
		About:   "Clear away what a spool does not need any more; tell what is wrong with it.",
		Default: "",
		Verbs:   []*tool.Verb{reapVerb(), doctorVerb()},
	}
}

func reapVerb() *tool.Verb {
	return &tool.Verb{
		Synopsis: []string{"[flags]"},
		About: "Clears away stale temp files, finished handoffs past their time, and what is remembered too long. " +
			"Silent, for cron. Never removes a whole handoff that is unfinished; a second one at once exits 0.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "print what would go, and why"},
			&cli.StringFlag{Name: "keep-done", Value: "30d", Usage: "keep what is finished for `DURATION`"},
			&cli.StringFlag{Name: "keep-bad", Value: "90d", Usage: "keep what was set aside for `DURATION`"},
			&cli.StringFlag{Name: "keep-ids", Value: "400d", Usage: "remember ids for `DURATION`"},
			&cli.StringFlag{Name: "tmp-age", Value: "36h", Usage: "temp files are stale after `DURATION`"},
		},
		Examples: []string{
			"xfer-gc",
			"xfer-gc --dry-run",
			"17 4 * * *  xfer-gc --keep-done 7d",
		},
		Statuses: []int{75},
		Run:      gc,
	}
}

// keep reads how long what is kept.
func keep(c *tool.Call) (reap.Keep, error) {
	k := reap.DefaultKeep()
	for flag, to := range map[string]*time.Duration{"keep-done": &k.Done, "keep-bad": &k.Bad, "keep-ids": &k.IDs, "tmp-age": &k.Temp} {
		d, err := tool.ParseDuration(c.String(flag))
		if err != nil {
			return k, tool.Usage(fmt.Sprintf("flag \"--%s\": %v", flag, err))
		}
		*to = d
	}
	if k.IDs < k.Done {
		return k, tool.Usage("flag \"--keep-ids\": not less than \"--keep-done\", or what is done could come again")
	}
	return k, nil
}

func gc(c *tool.Call) error {
	k, err := keep(c)
	if err != nil {
		return err
	}
	dir, _, err := c.SpoolDir()
	if err != nil {
		return err
	}
	s, err := spool.Open(dir, c.Process.System)
	if err != nil {
		return err
	}
	r, err := s.Reap(c.Ctx)
	if errors.Is(err, spool.ErrLocked) {
		return nil // another one does it
	}
	if err != nil {
		return err
	}
	defer r.Close()
	var seen atomic.Int64
	done := c.Err.Progress(func() string { return fmt.Sprintf("%d cleared away", seen.Load()) })
	defer done()
	failures := c.Failures()
	w := &reap.Sweep{R: r, S: s, Keep: k, Now: c.Process.System.Now, Dry: c.Bool("dry-run"), Tell: func(d reap.Done) {
		seen.Add(1)
		path := reapedPath(s, r, &d)
		if d.Err != nil {
			failures.Add(&spool.Error{Op: "clear away", Name: cmp.Or(path, string(d.Kind)), Err: d.Err})
		} else if c.Bool("dry-run") || c.Out.JSON() {
			failures.Add(c.Out.Write(newReapRecord(&d, path, c.Bool("dry-run"))))
		}
	}}
	if err := w.Run(c.Ctx); err != nil && failures.Err() == nil {
		return err
	}
	return failures.Err()
}

// A reapRecord is one thing that goes, or would go; or, without a path, many
// that went together.
type reapRecord struct {
	Kind spool.LeftoverKind `json:"kind"`
	Peer spool.Name         `json:"peer,omitempty"`
	Path string             `json:"path,omitempty"` // below the spool
	Why  string             `json:"why"`
	Did  string             `json:"did,omitempty"`
	Age  float64            `json:"age"` // seconds
	Size int64              `json:"size"`
	Dry  bool               `json:"dry_run,omitempty"`
}

func newReapRecord(d *reap.Done, path string, dry bool) *reapRecord {
	return &reapRecord{d.Kind, d.Peer, path, d.Why, d.Did, d.Age.Seconds(), d.Size, dry}
}

// Fields are kind, path, why, age and size.
func (r *reapRecord) Fields() []any {
	age := time.Duration(r.Age * float64(time.Second)).Round(time.Second)
	return []any{string(r.Kind), r.Path, r.Why, age.String(), r.Size}
}

// reapedPath is where what d is about lies, below the spool; empty where it is
// many.
func reapedPath(s *spool.Spool, r *spool.Reaping, d *reap.Done) string {
	if d.Name == "" || d.Kind == reap.Card {
		return d.Name
	}
	path := r.Path(&d.Leftover)
	if rel, err := filepath.Rel(s.Dir(), path); err == nil {
		return rel
	}
	return path
}
