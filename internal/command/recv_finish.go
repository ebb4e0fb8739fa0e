package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"xfer/internal/handler"
	"xfer/internal/tool"
	"xfer/spool"
)

// The statuses of a handler that mean something; they are those of the tool
// set, so that a handler passes a task on in one line.
const (
	statusLater      = 75 // not now: it is not counted
	statusBlocked    = 80
	statusNeedsInput = 81
)

// finish waits for a handler's end and commits what follows from it.
func (h *handling) finish(j *job) {
	defer h.ended.Done()
	res := j.p.Wait()
	j.c.DropDocument() // while the handoff is still to be found: what a crash leaves, the next handler replaces
	// A transition that was begun is finished, whatever the signal.
	if err := h.settle(context.WithoutCancel(h.Ctx), j, res); err != nil {
		h.Err.Report(onID("handle", j.c.ID, err))
		h.again(j, res, "")
	}
	j.close()
	j.c.Release()
	if !j.later {
		j.r.Offer(j.c.ID) // nothing to pass over any more
	}
	h.runs(j, false)
	<-h.slots
}

// settle moves the handoff to where its handler's end puts it.
func (h *handling) settle(ctx context.Context, j *job, res handler.Result) error {
	if err := j.r.StillHome(); err != nil {
		return err // another host works it now: nothing more is committed here
	}
	c := j.c
	if c.Kind == spool.Task {
		first, err := c.Concluded(ctx)
		if err != nil {
			return err
		}
		if first != nil { // by its handler, or before
			h.note(j, res, nil)
			return c.Finish()
		}
	}
	conclude := h.Bool("conclude") && c.Kind == spool.Task
	switch {
	case res.Stopped && res.Status != 0:
		h.again(j, res, "")
		return nil
	case errors.Is(res.Capture, handler.ErrTooMuch): // and would again
		h.note(j, res, nil)
		return h.failed(ctx, j, res, conclude)
	case res.Capture != nil:
		return res.Capture
	case res.Status == statusLater && !res.TimedOut:
		h.again(j, res, "")
		return nil
	case conclude && !res.TimedOut && ending(res.Status) != "":
		h.note(j, res, nil)
		return h.conclude(ctx, j, ending(res.Status), io.NewSectionReader(j.stdout, 0, 1<<62))
	case res.Status == 0 && !res.TimedOut:
		h.note(j, res, nil)
		return h.done(j)
	case h.attempts(c)+1 <= h.retries:
		h.again(j, res, firstLine(h.failure(res)))
		return nil
	}
	h.note(j, res, nil)
	return h.failed(ctx, j, res, conclude)
}

// ending is how a task ends whose handler exits with status.
func ending(status int) spool.Ending {
	switch status {
	case 0:
		return spool.Done
	case statusBlocked:
		return spool.Blocked
	case statusNeedsInput:
		return spool.NeedsInput
	}
	return ""
}

// done is for a handler that exits 0: a task owes its conclusion now.
func (h *handling) done(j *job) error {
	if j.c.Kind == spool.Task {
		return h.owed(j)
	}
	return j.c.Finish()
}

// failed is for a handler that failed for the last time.
func (h *handling) failed(ctx context.Context, j *job, res handler.Result, conclude bool) error {
	text := h.failure(res)
	h.Err.Say("%s: its handler failed: %s", j.c.ID, firstLine(text))
	switch {
	case conclude:
		text += "\n"
		return h.conclude(ctx, j, spool.Blocked, strings.NewReader(text[:min(int64(len(text)), h.limit)]))
	case j.c.Kind == spool.Task:
		return h.owed(j)
	}
	if err := j.c.DeadLetter(text); err != nil {
		return err
	}
	h.Err.Say("%s is set aside in bad/; to send it again: %s | %s", j.c.ID,
		tool.Command("xfer-inbox show --body "+string(j.c.ID)), tool.Command("xfer-send -k notification "+string(j.c.To)))
	return nil
}

// owed leaves a task that was handled and not concluded to whoever concludes it.
func (h *handling) owed(j *job) error {
	if err := j.c.Taken(""); err != nil || j.c.Place() == spool.Finished {
		return err
	}
	h.Err.Say("%s owes its conclusion, and stands in work/; to end it: %s", j.c.ID, h.ends(j.r.Mailbox().Name(), j.c.ID))
	return nil
}

// failure says how a handler ended, and the end of what it printed.
func (h *handling) failure(res handler.Result) string {
	how := fmt.Sprintf("exit status %d", res.Status)
	switch {
	case res.Capture != nil:
		how = fmt.Sprintf("it printed more than %d bytes, the limit of a conclusion", h.limit)
	case res.TimedOut:
		how = fmt.Sprintf("it ran longer than its time, %s", res.Duration.Round(time.Millisecond))
	case res.Signal != 0:
		how = fmt.Sprintf("ended by signal %d (%s)", int(res.Signal), res.Signal)
	}
	if len(res.Tail) > 0 {
		how += "\n\n" + strings.TrimRight(cleanLines(string(res.Tail)), "\n")
	}
	return how
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// cleanLines is text without what a terminal acts upon, line ends kept.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = cleanKeepingTabs(lines[i])
	}
	return strings.Join(lines, "\n")
}

// conclude sends the conclusion of a task whose lock is held, and moves it.
func (h *handling) conclude(ctx context.Context, j *job, e spool.Ending, body io.Reader) error {
	body, mime, err := sniff(body)
	if err != nil {
		return err
	}
	w, err := j.c.ConcludeHeld(e, spool.Draft{Type: mime})
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := io.Copy(w, body); err != nil {
		return err
	}
	r, _, err := w.Commit(ctx)
	if errors.Is(err, spool.ErrConcluded) {
		return j.c.Finish() // somebody was faster: the first stands
	}
	if err != nil {
		return err
	}
	h.Err.Say("concluded %s %s: %s to %s: %s", j.c.ID, e, r.ID, r.To, r.Outcome)
	return nil
}

// attempts is how often a handler of c has failed.
func (h *handling) attempts(c *spool.Claim) int {
	run, _ := h.Spool.RunOf(c.ID)
	return run.Attempts
}

// again has the handoff tried later. A failure is what is said of one, and
// only that counts; empty: it was none.
func (h *handling) again(j *job, res handler.Result, failure string) {
	j.later = true
	counts := failure != ""
	if h.Ctx.Err() != nil && !counts {
		h.note(j, res, func(r *spool.Run) { r.Deferred++ }) // the next receiver starts it at once
		return
	}
	var at time.Time
	h.note(j, res, func(r *spool.Run) {
		var n int
		if counts {
			r.Attempts++
			n = r.Attempts
		} else {
			r.Deferred++
			n = r.Deferred
		}
		at = h.Process.System.Now().Add(handler.Backoff(n, h.Process.System.Rand)).UTC()
		r.NextAt = &at
	})
	if counts {
		h.Err.Say("%s: its handler failed: %s; tried again at %s", j.c.ID, failure, at.Format(time.RFC3339))
	}
	h.tryLater(j.r, j.c.ID, at)
}

// note writes down how a handler ended; change nil: for good.
func (h *handling) note(j *job, res handler.Result, change func(*spool.Run)) {
	_, err := j.c.Attempted(func(r *spool.Run) {
		r.NextAt = nil
		if change != nil {
			change(r)
		} else {
			r.Attempts++
		}
		r.Status, r.TimedOut, r.Seconds = &res.Status, res.TimedOut, res.Duration.Seconds()
		r.Stderr = cleanLines(string(res.Tail))
	})
	if err != nil {
		h.Err.Report(onID("note the end of", j.c.ID, err))
	}
}
