package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"xfer/internal/durable"
)

// Awaiting says that this process waits for the conclusion of task: until stop
// is called, receivers and take pass it over. It is begun before the task is
// sent, so that no conclusion can come in between. The error is ErrLocked when
// the lock was not to be had within a second.
func (s *Spool) Awaiting(ctx context.Context, task ID) (stop func(), err error) {
	path := s.awaitFile(task)
	deadline := time.Now().Add(lockWait)
	for {
		f, err := s.waitersFile(path)
		if err != nil {
			return nil, err
		}
		ok, err := durable.TryShare(f)
		if err == nil && ok {
			// The last waiter removes the file: a lock on one that is gone is none.
			if err = durable.Named(f, path); err == nil {
				return func() { _ = f.Close(); s.sweepWaiter(task) }, nil
			}
		}
		_ = f.Close()
		switch {
		case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, durable.ErrReplaced):
		default:
			return nil, err
		}
		if !time.Now().Before(deadline) {
			return nil, Because(ErrLocked, "the lock await/"+string(task)+" is held by "+holder(path))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(probeAgain):
		}
	}
}

// probeAgain is how long a probe by a reader, or the last waiter's sweep, may
// have the lock.
const probeAgain = 5 * time.Millisecond

// waitersFile opens the file of a task's waiters, made where it is missing.
func (s *Spool) waitersFile(path string) (f *os.File, err error) {
	for {
		err = s.retryMade(func() error {
			f, err = s.fs.Create(path)
			return err
		}, s.localDir(), s.awaitDir())
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		f, _, err = durable.OpenRegular(path, os.O_RDWR)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, durable.ErrReplaced) {
			return f, err
		}
	}
}

// sweepWaiter removes the waiters' file of task if nobody waits any more.
func (s *Spool) sweepWaiter(task ID) {
	f, _, err := durable.OpenRegular(s.awaitFile(task), os.O_RDWR)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	// Another sweep may have been faster, and another waiter have come since.
	if ok, err := durable.TryLock(f); ok && err == nil && durable.Named(f, s.awaitFile(task)) == nil {
		_ = durable.Remove(s.awaitFile(task))
	}
}

// awaited tells whether a process on this host waits for the conclusion of
// task.
func (s *Spool) awaited(task ID) bool {
	f, _, err := durable.OpenRegular(s.awaitFile(task), os.O_RDWR|unix.O_CLOEXEC)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	ok, err := durable.TryLock(f)
	return err == nil && !ok
}

// An Awaited is the conclusion of an awaited task, open and verified.
type Awaited struct {
	*File
	claim *Claim // nil where it is finished already, or another host's to move
}

// Finish commits that it was handed out whole: it moves to done/, where it
// does not stand there already.
func (a *Awaited) Finish() error {
	if a.claim == nil {
		return nil
	}
	return a.claim.finish()
}

// Close gives it up as it stands.
func (a *Awaited) Close() {
	if a.claim == nil {
		_ = a.File.Close()
		return
	}
	a.claim.Release()
}

// Conclusion looks for the conclusion of task, which was sent from this
// mailbox to the peer to: nil while there is none. again tells that it is
// there, and in another process's hands for a moment. The error is ErrRefused
// with the reason when the task was set aside, and ErrConflict when what
// stands under the conclusion's id is none.
func (m *Mailbox) Conclusion(task ID, to Name) (a *Awaited, again bool, err error) {
	head := &Header{ID: task, From: m.name, To: to}
	for _, p := range Places {
		e, _, err := m.at(p, task.Conclusion())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		a, err := m.openAwaited(e)
		switch {
		case errors.Is(err, errBusy), errors.Is(err, errGone), errors.Is(err, fs.ErrNotExist):
			again = true
		case errors.Is(err, errGhost), errors.Is(err, ErrIncomplete):
		case err != nil:
			return nil, false, asked(err)
		case !a.ends(head):
			a.Close()
			return nil, false, Because(ErrConflict, "what stands under its conclusion's id "+string(e.id)+" is not its conclusion")
		default:
			return a, false, nil
		}
	}
	if again {
		return nil, true, nil
	}
	a, err = m.conclusionElsewhere(head)
	return a, false, err
}

// conclusionElsewhere looks where the conclusion of task went that is in none
// of the asker's places: into the taker's bad/, since the asker was removed
// for a while, or into no more than a segment's memory (ErrNoHandoff). Where
// the task was refused there is none (ErrRefused).
func (m *Mailbox) conclusionElsewhere(task *Header) (*Awaited, error) {
	id := task.ID.Conclusion()
	if f, found, err := m.folded(id); err != nil {
		return nil, err
	} else if found && f.Last.Ending() != "" {
		return nil, Because(ErrNoHandoff, "it was concluded "+string(f.Last.Ending())+", and the conclusion was let go")
	}
	taker, err := m.s.Mailbox(task.To)
	if err != nil {
		return nil, nil // not to be told now
	}
	if a, err := taker.openAwaited(entry{id, Bad, string(id)}); err == nil {
		if a.ends(task) {
			return a, nil
		}
		a.Close()
	}
	if reason, refused := taker.refused(task.ID); refused {
		return nil, Because(ErrRefused, "it was refused: "+reason)
	}
	return nil, nil
}

// openAwaited claims the conclusion where this host may move it and it is not
// finished, and else only reads it.
func (m *Mailbox) openAwaited(e entry) (*Awaited, error) {
	var a *Awaited
	home, err := m.home()
	if err != nil {
		return nil, err
	}
	if (e.place == New || e.place == Cur) && (home.Host == "" || home.Host.Same(m.s.host)) {
		// Where nobody has claimed the mailbox, gc must know who clears it.
		if err := m.mayChange(context.Background()); err != nil {
			return nil, err
		}
		c, err := m.claim(e)
		if err != nil {
			return nil, err
		}
		a = &Awaited{c.File, c}
	} else {
		f, err := openFile(m.path(e), e.id)
		if err != nil {
			return nil, err
		}
		a = &Awaited{f, nil}
	}
	if _, err := a.Verify(); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// refused tells whether the task id was set aside here, and why.
func (m *Mailbox) refused(id ID) (reason string, refused bool) {
	if _, _, err := m.at(Bad, id); err == nil {
		return m.reason(id), true
	}
	if f, found, err := m.folded(id); err == nil && found && f.Last.Place() == Bad {
		r := f.report(Report{})
		return r.Detail, true
	}
	return "", false
}
