package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"

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
	if reason, refused := m.s.refused(task, to); refused {
		return nil, false, Because(ErrRefused, "it was refused: "+reason)
	}
	return nil, again, nil
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
