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
// sent, so that no conclusion can come in between.
func (s *Spool) Awaiting(ctx context.Context, task ID) (stop func(), err error) {
	path := s.awaitFile(task)
	for {
		var unlock func()
		err := s.retryMade(func() error {
			unlock, err = s.fs.LockFile(ctx, path, false, lockWait)
			return err
		}, s.localDir(), s.awaitDir())
		if err != nil {
			return nil, err
		}
		// The last waiter removes the file: a lock on one that is gone is none.
		if _, err := os.Lstat(path); err == nil {
			return func() { unlock(); s.sweepWaiter(task) }, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			unlock()
			return nil, err
		}
		unlock()
	}
}

// sweepWaiter removes the waiters' file of task if nobody waits any more.
func (s *Spool) sweepWaiter(task ID) {
	f, _, err := durable.OpenRegular(s.awaitFile(task), os.O_RDWR)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if ok, err := durable.TryLock(f); ok && err == nil {
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

// AwaitConclusion waits until ctx ends for the conclusion of task, which was
// sent from this mailbox to the peer to. The errors are context.Cause(ctx), and
// ErrRefused with the reason when the task was set aside or turned down.
func (m *Mailbox) AwaitConclusion(ctx context.Context, task ID, to Name) (*Awaited, error) {
	w := m.Watch()
	defer w.Close()
	head := &Header{ID: task, From: m.name, To: to}
	for {
		a, err := m.awaitedConclusion(head)
		if a != nil || err != nil {
			return a, err
		}
		if reason, refused := m.s.refused(task, to); refused {
			return nil, Because(ErrRefused, "task "+string(task)+" was refused: "+reason)
		}
		if _, err := w.Wait(ctx, time.Second); err != nil {
			return nil, err
		}
	}
}

// awaitedConclusion is the conclusion if it is there and to be had, else nil.
func (m *Mailbox) awaitedConclusion(task *Header) (*Awaited, error) {
	id := task.ID.Conclusion()
	for _, p := range Places {
		e, _, err := m.at(p, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		a, err := m.openAwaited(e)
		if errors.Is(err, errBusy) || errors.Is(err, errGone) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, errGhost) || errors.Is(err, ErrIncomplete) {
			continue // tried again when something changes, or in a second
		}
		if err != nil {
			return nil, asked(err)
		}
		if !a.ends(task) {
			a.Close()
			return nil, Because(ErrConflict, "what stands under its conclusion's id "+string(id)+" is not its conclusion")
		}
		return a, nil
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

// refused tells whether the task id was set aside by the peer to, or never
// let in, and why.
func (s *Spool) refused(id ID, to Name) (reason string, refused bool) {
	m, err := s.Mailbox(to)
	if err != nil {
		return "", false
	}
	if _, _, err := m.at(Bad, id); err != nil {
		return "", false
	}
	return m.reason(id), true
}
