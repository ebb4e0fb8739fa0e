package spool

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"xfer/internal/durable"
)

// A conclusion is looked up before a task is handed out, released or
// concluded: in the asker's places, in the taker's bad/, and in this host's
// registry. One that was written and not published is published first; the
// task moves to done/ only after it is seen.

// ends tells whether h is the conclusion of task: whole, of that task, and
// from its addressee. Anything else under its id ends nothing.
func (h *Header) ends(task *Header) bool {
	return h.Kind == Conclusion && h.InReplyTo == task.ID && h.From == task.To && h.To == task.From
}

// conclusionOf is the conclusion of task, a task of this mailbox, or nil.
func (m *Mailbox) conclusionOf(ctx context.Context, task *Header) (*Header, error) {
	id := task.ID.Conclusion()
	asker, err := m.s.Mailbox(task.From)
	if err != nil && !errors.Is(err, ErrNoPeer) {
		return nil, err
	}
	if err == nil {
		h, err := asker.published(id, task, Places...)
		if h != nil || err != nil {
			return h, err
		}
		if f, found, err := asker.folded(id); err != nil || found && f.Last.Ending() != "" {
			return f.conclusion(task), err
		}
	}
	h, err := m.published(id, task, Bad)
	if h != nil || err != nil {
		return h, err
	}
	r, err := m.s.lookup(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !r.ends(task) {
		return nil, passIncomplete(err)
	}
	at, place, err := m.s.conclusionGoes(task.From, m.name)
	if errors.Is(err, ErrNoPeer) {
		return &r.Header, nil
	}
	if err != nil {
		return nil, err
	}
	return &r.Header, at.completeLocked(ctx, r, place)
}

// conclusionGoes is where a conclusion for asker belongs: into the asker's
// new/, or where the asker was removed, into the taker's own bad/.
func (s *Spool) conclusionGoes(asker, taker Name) (*Mailbox, Place, error) {
	m, err := s.Mailbox(asker)
	if err != nil {
		return nil, "", err
	}
	p, err := m.readPeer()
	if err == nil && p.RemovedAt != nil {
		m, err = s.Mailbox(taker)
		return m, Bad, err
	}
	return m, New, nil // a conclusion passes a policy, even one that cannot be read
}

// passIncomplete is nil for what says nothing about the task yet, or ever.
func passIncomplete(err error) error {
	if errors.Is(err, ErrIncomplete) || errors.Is(err, ErrMalformed) || notRegular(err) {
		return nil
	}
	return err
}

// published is the conclusion of task if one of places has it whole.
func (m *Mailbox) published(id ID, task *Header, places ...Place) (*Header, error) {
	for _, p := range places {
		e, _, err := m.at(p, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f, err := openFile(m.path(e), id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went on to the right
		}
		if err == nil {
			_, err = f.Verify()
			_ = f.Close()
		}
		if err == nil && f.ends(task) {
			return &f.Header, nil
		}
		if err = passIncomplete(err); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// completeLocked publishes what was registered and not published, under the
// lock of its id.
func (m *Mailbox) completeLocked(ctx context.Context, r *registered, p Place) error {
	unlock, err := m.s.lock(ctx, m.s.idLock(r.ID), lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	found, err := m.find(r.ID)
	if err != nil || len(found) > 0 {
		return err
	}
	published, err := m.complete(r, p)
	if !published || err != nil {
		return err
	}
	return m.s.fs.SyncDir(m.placeDir(p))
}

// A Concluding is the conclusion of a task being written. It ends with Commit
// or Abort.
type Concluding struct {
	*Delivery
	m    *Mailbox
	task Header
	held *Claim // the task's lock, where this process has it
	wait time.Duration
}

// ByHandler says that the caller is the task's own handler: its receiver has
// the lock and moves the task, so that Commit does not wait for it.
func (w *Concluding) ByHandler() { w.wait = 0 }

// ConcludeHeld is Conclude for a task whose lock this process holds: Commit
// moves it under that lock.
func (c *Claim) ConcludeHeld(ending Ending, draft Draft) (*Concluding, error) {
	w, err := c.m.Conclude(c.ID, ending, draft)
	if err == nil {
		w.held = c
	}
	return w, err
}

// Concluded is the conclusion of a claimed task, or nil.
func (c *Claim) Concluded(ctx context.Context) (*Header, error) {
	return c.m.conclusionOf(ctx, &c.Header)
}

// Conclude begins the conclusion of the task id, which stands in new/, cur/,
// work/ or, concluded before, in done/; one that was let go since is concluded
// only as it was before. The caller has asked MayWork. The errors are
// ErrNoHandoff, ErrNotATask, ErrRefused, ErrConcluded and those of the format.
func (m *Mailbox) Conclude(id ID, ending Ending, draft Draft) (*Concluding, error) {
	task, err := m.task(id)
	if errors.Is(err, ErrNoHandoff) {
		task, err = m.letGoTask(id, err)
	}
	if err != nil {
		return nil, err
	}
	draft.ID, draft.Kind, draft.Ending = id.Conclusion(), Conclusion, ending
	draft.From, draft.To = m.name, task.From
	draft.InReplyTo, draft.References = id, task.Chain()
	draft.Subject = task.answer()
	w, err := m.s.NewDelivery(draft)
	if err != nil {
		return nil, err
	}
	return &Concluding{Delivery: w, m: m, task: *task, wait: lockWait}, nil
}

// task is the header of the task id of this mailbox.
func (m *Mailbox) task(id ID) (*Header, error) {
	f, err := m.openStanding(id)
	if err != nil {
		return nil, asked(err)
	}
	defer func() { _ = f.Close() }()
	switch {
	case f.To != m.name:
		return nil, Because(ErrRefused, "it is addressed to "+string(f.To))
	case f.Kind == Conclusion:
		return nil, Because(ErrNotATask, "it is itself the conclusion of a task")
	case f.Kind != Task:
		return nil, Because(ErrNotATask, "it is a notification: nothing comes back")
	}
	return &f.Header, nil
}

// openStanding opens id where it counts. It may go on to the right while it is
// being opened, as often as there are places.
func (m *Mailbox) openStanding(id ID) (f *File, err error) {
	for range Places {
		var e entry
		if e, err = m.standing(id); err != nil {
			return nil, err
		}
		f, err = openFile(m.path(e), id)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, durable.ErrReplaced) {
			break
		}
	}
	return f, err
}

// answer is the subject of what answers h.
func (h *Header) answer() string {
	s := h.Subject
	if !strings.HasPrefix(strings.ToLower(s), "re:") {
		s = "Re: " + s
	}
	if len(s) > maxValue {
		s = strings.ToValidUTF8(s[:maxValue], "")
	}
	return s
}

// maxChain is how many ids References holds at most: a header has room for
// them, and for as much again.
const maxChain = 900

// Chain is the References of what answers h: the root and the nearest
// ancestors, where not all fit.
func (h *Header) Chain() []ID {
	refs := append(append([]ID(nil), h.References...), h.ID)
	if len(h.References) == 0 && h.InReplyTo != "" {
		refs = append([]ID{h.InReplyTo}, refs...)
	}
	if over := len(refs) - maxChain; over > 0 {
		refs = append(refs[:1], refs[1+over:]...)
	}
	return refs
}

// Commit sends the conclusion and moves the task to done/. Another conclusion
// that was there before stands: the error is ErrConcluded and names it.
// moved is false where another process holds the task; that one moves it when
// it is done.
func (w *Concluding) Commit(ctx context.Context) (r Report, moved bool, err error) {
	r, err = w.Delivery.Commit(ctx)
	if err != nil && !errors.Is(err, ErrConflict) {
		return r, false, err
	}
	first, lerr := w.m.conclusionOf(ctx, &w.task)
	if errors.Is(err, ErrConflict) && first != nil {
		err = first.stands()
	}
	switch {
	case err == nil && lerr != nil:
		return r, false, Because(ErrUnknown, "the conclusion is sent, but the task was not moved to done/: "+lerr.Error())
	case err == nil && first == nil:
		return r, false, Because(ErrUnknown, "the conclusion was sent, and is not to be seen; the task was not moved to done/")
	case first == nil:
		return r, false, err
	}
	moved = true
	var merr error
	if w.held != nil {
		merr = w.held.finish()
	} else {
		moved, merr = w.m.settleTask(ctx, w.task.ID, w.wait)
	}
	if err == nil && merr != nil {
		err = Because(ErrUnknown, "the conclusion is sent, but the task was not moved to done/: "+merr.Error())
	}
	return r, moved, err
}

// settleTask moves a concluded task to done/, trying its lock for wait.
func (m *Mailbox) settleTask(ctx context.Context, id ID, wait time.Duration) (moved bool, err error) {
	deadline := time.Now().Add(wait)
	for {
		e, err := m.standing(id)
		if errors.Is(err, ErrNoHandoff) {
			if gone, _ := m.letGo(id); gone {
				return true, nil
			}
		}
		if err != nil {
			return false, err
		}
		if e.place == Finished {
			return true, nil
		}
		c, err := m.claim(e)
		if errors.Is(err, errGhost) {
			// A copy was dropped: the task stands further right, or was let go.
			if gone, err := m.letGo(id); err != nil || gone {
				return gone, err
			}
			continue
		}
		if err == nil {
			defer c.Release()
			return true, c.finish()
		}
		if !errors.Is(err, errBusy) && !errors.Is(err, errGone) {
			return false, err
		}
		if !time.Now().Before(deadline) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, nil
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Seen ends a notification or a conclusion without handing it out. The error
// is ErrIsATask for a task; for what was finished before, ended is false.
func (m *Mailbox) Seen(id ID) (ended bool, err error) {
	e, err := m.standing(id)
	if err != nil {
		return false, err
	}
	if e.place == Finished {
		f, err := openFile(m.path(e), id)
		if err != nil {
			return false, asked(err)
		}
		defer func() { _ = f.Close() }()
		return false, f.notATask()
	}
	c, err := m.claim(e)
	if err != nil {
		return false, asked(err)
	}
	defer c.Release()
	if err := c.notATask(); err != nil {
		return false, err
	}
	return true, c.finish()
}

func (h *Header) notATask() error {
	if h.Kind == Task {
		return &Error{Op: "end", Name: string(h.ID), Err: Because(ErrIsATask, "it is a task, and ends by its conclusion"),
			Hint: "'xfer-inbox --as " + string(h.To) + " conclude " + string(h.ID) + " done < FILE' ends it"}
	}
	return nil
}

// Offer offers a taken task to the next take again, and says who had it. The
// errors are ErrNotATask, ErrNoHandoff, ErrConcluded, and ErrTaken for what is
// not taken or already ended.
func (m *Mailbox) Offer(ctx context.Context, id ID) (from string, err error) {
	task, err := m.task(id)
	if err != nil {
		return "", err
	}
	if first, err := m.conclusionOf(ctx, task); err != nil {
		return "", err
	} else if first != nil {
		_, err := m.settleTask(ctx, id, lockWait)
		return "", errors.Join(Because(ErrConcluded, "it was concluded "+string(first.Ending)), err)
	}
	e, err := m.standing(id)
	if err != nil {
		return "", err
	}
	if e.place != Work {
		return "", Because(ErrTaken, "it is not taken: it stands in "+string(e.place)+"/")
	}
	m.log(event{Event: "released", ID: id})
	return strings.TrimSpace(m.s.takenBy(id)), m.s.markReleased(id)
}
