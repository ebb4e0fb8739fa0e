package spool

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"xfer/internal/durable"
)

// Handling: a receiver that runs a command keeps the claim on a handoff while
// the handler works. The handoff moves to cur/ once the handler is started,
// and on when it has ended. Between two attempts the lock is free, and what is
// known of the attempts stands in local/run/ID.

// farthest is how far ahead the next attempt may lie: beyond it, the clock that
// said so was wrong, and the handoff is due.
const farthest = 10 * time.Minute

// NextDue is the next of q that is due, claimed; nil where nothing is left.
// What a handler is to try later is passed to later with its time.
func (r *Receiver) NextDue(ctx context.Context, q *Queue, later func(ID, time.Time)) (*Claim, error) {
	for {
		claims, err := r.Next(ctx, q, 1)
		if err != nil || len(claims) == 0 {
			return nil, err
		}
		c := claims[0]
		run, _ := r.m.s.RunOf(c.ID)
		now := r.m.s.sys.Now()
		if run.NextAt == nil || !run.NextAt.After(now) || run.NextAt.After(now.Add(farthest)) {
			return c, nil
		}
		c.Release()
		later(c.ID, *run.NextAt)
	}
}

// Pass has Arrivals pass id over until Offer, which it is for whoever calls
// NextDue to do for what is to be tried later.
func (r *Receiver) Pass(id ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passed[id] = true
}

// Offer has Arrivals find id again.
func (r *Receiver) Offer(id ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.passed, id)
}

func (r *Receiver) passes(id ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.passed[id]
}

// Started tells that a handler works on c: it moves to cur/, and the sender's
// outcome turns to delivered. The claim goes on. That is not synced: after a
// crash the handler is run again, wherever the handoff stands.
func (r *Receiver) Started(c *Claim) error {
	r.Pass(c.ID)
	if err := r.StillHome(); err != nil || c.e.place != New {
		return err
	}
	return c.rename(Cur)
}

// Working says which handlers run, for whoever looks at the peer. It syncs
// nothing.
func (r *Receiver) Working(ids []ID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.live.State, r.live.Running = Idle, ids
	if len(ids) > 0 {
		r.live.State = Busy
	}
	return r.m.writeLive(&r.live, false)
}

// Lock is the locked descriptor, for a handler to inherit.
func (c *Claim) Lock() *os.File { return c.f }

// Document lays the body out as a plain file for a handler to open, and is the
// file's path and a second open of it, for reading. It is the handler's to
// change; nothing of it is synced.
func (c *Claim) Document() (path string, f *os.File, err error) {
	s := c.m.s
	path = filepath.Join(s.docsDir(), string(c.ID))
	if err := durable.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	if err := s.retryMade(func() error {
		f, err = s.fs.Create(path)
		return err
	}, s.localDir(), s.docsDir()); err != nil {
		return "", nil, err
	}
	_, err = io.Copy(f, c.Body())
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		f, err = os.Open(path)
	}
	if err != nil {
		_ = durable.Remove(path)
		return "", nil, err
	}
	return path, f, nil
}

// DropDocument removes the temp document of a handoff.
func (c *Claim) DropDocument() {
	_ = durable.Remove(filepath.Join(c.m.s.docsDir(), string(c.ID)))
}

// Capture is a file for what a handler prints, which has no name.
func (s *Spool) Capture() (*os.File, error) {
	suffix, err := s.suffix()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.tempDir(), "stdout."+suffix)
	var f *os.File
	if err := s.retryMade(func() error {
		f, err = s.fs.Create(path)
		return err
	}, s.localDir(), s.tempDir()); err != nil {
		return nil, err
	}
	return f, durable.Remove(path)
}

// Attempted writes down what a handler did, as change says it.
func (c *Claim) Attempted(change func(*Run)) (Run, error) {
	run, _ := c.m.s.RunOf(c.ID)
	change(&run)
	now := c.m.s.sys.Now().UTC()
	run.EndedAt = &now
	return run, c.m.s.writeRun(c.ID, run)
}

// Finish commits that the handoff is finished: it moves to done/.
func (c *Claim) Finish() error { return c.finish() }

// DeadLetter sets a whole handoff aside, with the reason.
func (c *Claim) DeadLetter(reason string) error { return c.m.setAsideWhole(c, reason) }
