package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"sync/atomic"

	"xfer/internal/tool"
	"xfer/spool"
)

// --batch: JSON lines in, one handoff each; JSON lines out, one outcome each, in
// the same order. A line that fails does not stop the others.

// batchProcs is how many processors Go is told of for a batch, at least. A sync
// keeps the one that it was called on until Go's monitor takes it away, so with
// two of them few syncs wait for the disk together (measured on two processors:
// with 2, 8, 16 and 34 a batch takes 1, 0.83, 0.83 and 0.81 of the time).
const batchProcs = 16

// A batching is one run of xfer-send --batch.
type batching struct {
	*Caller
	limit int64                   // bytes of a body
	stop  context.CancelCauseFunc // ends the reading
	under *spool.Groups

	// Of reading.
	line    int
	filling *spool.Batch // of the group that is read
	before  bool         // lines were begun that may not be sent yet
	mine    bool         // the return address is there

	// Of answering.
	failed int   // lines
	first  error // of theirs
	sent   atomic.Int64
	answer bytes.Buffer // a group's outcomes
}

// batchFlags are those that --batch goes with.
var batchFlags = map[string]bool{"batch": true, "file": true, "f": true, "no-sync": true, "spool": true, "as": true, "json": true, "quiet": true, "q": true}

func sendBatch(c *tool.Call) error {
	if len(c.Arguments) > 0 {
		return tool.Usage("flag \"--batch\": each line names its own PEER")
	}
	for _, name := range c.LocalFlagNames() {
		if !batchFlags[name] {
			return tool.Usage("flag " + strconv.Quote("--"[:min(2, len(name))]+name) + ": not together with \"--batch\"")
		}
	}
	limit, err := c.Process.System.MaxBytes()
	if err != nil {
		return err
	}
	c.CatchSignals()
	ctx, stop := context.WithCancelCause(c.Ctx)
	defer stop(nil)
	c.Ctx = ctx
	body, err := c.Body()
	if err != nil {
		return err
	}
	defer body.Close()
	if c.Bool("no-sync") {
		c.Process.System = c.Process.System.WithoutSync()
	}
	x, err := Open(c)
	if err != nil {
		return err
	}
	if c.Process.System.Env("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), batchProcs))
	}
	s := &batching{Caller: x, under: x.Spool.NewGroups(), stop: stop, limit: limit}
	defer c.Err.Progress(func() string { return fmt.Sprintf("%d sent", s.sent.Load()) })()
	// JSON makes of one byte six at most.
	if err := s.run(newLines(body, 6*limit+1<<20)); err != nil {
		return err
	}
	return s.failure()
}

// failure is the first line's that failed, and says how many did.
func (s *batching) failure() error {
	if s.failed > 1 {
		return tool.WithHint(spool.Because(s.first, fmt.Sprintf("%s (one of %d lines that failed)", s.first, s.failed)), "the outcome of each line has its \"detail\"")
	}
	return s.first
}

// run reads lines in groups, and commits each while it reads on.
func (s *batching) run(in *lines) (err error) {
	for {
		if s.filling, err = s.under.Next(); err != nil {
			return err
		}
		group, end := s.read(in)
		if err := s.Ctx.Err(); err != nil {
			s.filling.Abort(deliveries(group))
			return cmp.Or(s.under.Wait(), err)
		}
		// A transition that was begun is finished, whatever the signal.
		s.under.Commit(context.WithoutCancel(s.Ctx), s.filling, deliveries(group), func(reports []spool.Report, errs []error) error {
			return s.answerAll(group, reports, errs)
		})
		switch {
		case errors.Is(end, errNotYet):
			if err := s.under.Wait(); err != nil {
				return err
			}
			s.before = false
		case errors.Is(end, io.EOF):
			return s.under.Wait()
		case end != nil:
			return cmp.Or(s.under.Wait(), end)
		}
	}
}

// errNotYet is what a line meets that answers one before it: that one has to be
// sent first.
var errNotYet = errors.New("what it answers is not sent yet")

// read is the next group; what it ends with is the input's error, or errNotYet,
// and then the line comes again. A group ends when it is full, and when there is
// nothing more to be read at once, so that whoever waits for an outcome before
// the next line gets it.
func (s *batching) read(in *lines) (group []*parcel, end error) {
	for len(group) < s.under.Most && end == nil && (len(group) == 0 || s.isMore(in)) {
		var line []byte
		s.line++
		if line, end = s.next(in); len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		p := s.begin(line)
		if errors.Is(p.err, errNotYet) {
			in.back(line)
			s.line--
			return group, errNotYet
		}
		group = append(group, p)
	}
	return group, end
}

// isMore tells whether another line is there, or comes while other groups are
// under way: they keep the disk busy for so long, and one group of two is the
// cheaper.
func (s *batching) isMore(in *lines) bool {
	if !in.wait() {
		return true
	}
	_ = s.under.Wait()
	return !in.wait()
}

// next is the next line; one that is longer than any body could make it ends
// the run.
func (s *batching) next(in *lines) ([]byte, error) {
	line, err := in.next()
	if errors.Is(err, bufio.ErrTooLong) {
		err = &spool.Error{Op: "read line", Name: strconv.Itoa(s.line), Err: spool.Because(spool.ErrTooLarge, fmt.Sprintf("over the limit of a body of %d bytes", s.limit))}
	}
	return line, err
}

func deliveries(group []*parcel) []*spool.Delivery {
	all := make([]*spool.Delivery, len(group))
	for i, p := range group {
		all[i] = p.w
	}
	return all
}

// answerAll prints the outcomes of a group.
func (s *batching) answerAll(group []*parcel, reports []spool.Report, errs []error) error {
	for i, p := range group {
		if p.w != nil {
			p.report, p.err = reports[i], errs[i]
		}
		if err := s.print(p); err != nil {
			return err
		}
	}
	_, err := s.Out.Raw().Write(s.answer.Bytes())
	s.answer.Reset()
	if err != nil {
		s.stop(err) // whoever reads nothing may wait before the next line
	}
	return err
}

// A batchRecord is the outcome of a line, with the class of what went wrong.
type batchRecord struct {
	Line int `json:"line"`
	*outcomeRecord
	Class  string `json:"class,omitempty"`
	Status int    `json:"status,omitempty"`
}

func (s *batching) print(p *parcel) error {
	if errors.Is(p.err, spool.ErrRefused) {
		p.report.ID, p.report.Outcome = "", spool.Refused
	}
	r := &batchRecord{Line: p.line, outcomeRecord: newOutcomeRecord(p.report, p.err)}
	if p.err == nil && p.report.Outcome == spool.Refused {
		p.err = spool.Because(spool.ErrRefused, "it was refused: "+p.report.Detail)
	}
	if p.err != nil {
		class := tool.ClassOf(p.err)
		r.Class, r.Status = class.Name, class.Status
		s.fail(p)
	} else {
		s.sent.Add(1)
	}
	line, err := tool.JSON(r)
	s.answer.Write(line)
	return err
}

func (s *batching) fail(p *parcel) {
	if s.failed++; s.failed > 1 {
		return
	}
	err := p.err
	if p.to != "" {
		err = s.PeerError("send to", p.to, err)
	}
	s.first = &lineError{p.line, err}
}

// A lineError is what went wrong with a line of the input.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return "line " + strconv.Itoa(e.line) + ": " + e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }
