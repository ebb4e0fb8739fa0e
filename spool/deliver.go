package spool

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"

	"xfer/internal/durable"
)

// Delivering, step by step:
//
//	tmp/ID.RANDOM   written, locked, header patched, fsync
//	local/ids/XX/ID linked: from here on the id is known to be used
//	                unlocked: the lock goes with the inode, and a reader that the
//	                publish wakes would pass a locked file over
//	new/ID          published: one rename that replaces nothing
//	new/            fsync: only now is the id told
//
// Half-written equals absent. What a crash leaves is a file in tmp/, perhaps
// with its link; gc undoes both after their time, link first.

// A Draft is a handoff that is to be written.
type Draft struct {
	ID         ID // empty: a fresh one is minted
	From, To   Name
	Kind       Kind
	Ending     Ending // of a conclusion
	Subject    string
	InReplyTo  ID
	References []ID
	Type       string
	Cwd        string
	Labels     []Label
	Key        string // an idempotency key; empty: none
}

// A Report says what became of one handoff.
type Report struct {
	ID       ID
	To       Name
	Outcome  Outcome
	Replayed bool   // it was there before, the same
	Detail   string // the reason of a refusal
}

// A Delivery is a handoff being written. It ends with Commit or Abort.
type Delivery struct {
	s     *Spool
	m     *Mailbox
	place Place // where in m it is published: new/, but for a removed asker's conclusion
	h     Header
	ready bool // sealed
	shown bool // published: tmp is gone
	keyed bool // its key's file names it, durably
	given bool // the id was given or computed, not minted for this
	f     *os.File
	tmp   string
	key   string
	shut  error // why the peer lets nothing new in; what was sent before is answered for
	head  int64
	sum   hash.Hash
	max   int64
}

// NewDelivery begins to deliver d: the peer is there, lets the sender in, and a
// file in its tmp/ is open. Nothing shows. The errors are ErrNoPeer,
// ErrRefused, ErrFull, ErrMalformed and those of the system. What may have been
// sent before, under its id or key, is turned down by Commit, once that is
// known.
func (s *Spool) NewDelivery(d Draft) (*Delivery, error) {
	m, place, err := s.addressee(d)
	if err != nil {
		return nil, err
	}
	return m.begin(d, place)
}

// begin is NewDelivery to this mailbox.
func (m *Mailbox) begin(d Draft, place Place) (*Delivery, error) {
	s := m.s
	var shut error
	if d.Kind != Conclusion {
		if shut = m.admits(d.From); shut != nil && d.ID == "" && d.Key == "" {
			return nil, shut
		}
	}
	limit, err := s.sys.MaxBytes()
	if err != nil {
		return nil, err
	}
	w := &Delivery{s: s, m: m, place: place, key: d.Key, shut: shut, given: d.ID != "", sum: sha256.New(), max: limit}
	if d.ID == "" {
		if d.ID, err = s.sys.NewID(); err != nil {
			return nil, err
		}
	}
	w.h = Header{ID: d.ID, From: d.From, FromHost: s.host, To: d.To, Subject: d.Subject, Date: s.sys.Now(),
		InReplyTo: d.InReplyTo, References: d.References, Type: d.Type, Kind: d.Kind, Ending: d.Ending, Cwd: d.Cwd, Labels: d.Labels}
	if err := w.open(); err != nil {
		return nil, w.fault(err)
	}
	return w, nil
}

// addressee is the mailbox that d goes to. A conclusion passes policy, hold and
// limits, and makes a mailbox that is missing: it was asked for.
func (s *Spool) addressee(d Draft) (*Mailbox, Place, error) {
	if d.Kind == Conclusion {
		if _, _, err := s.MakeMailbox(d.To); err != nil {
			return nil, "", err
		}
		m, p, err := s.conclusionGoes(d.To, d.From)
		if err != nil {
			return nil, "", err
		}
		return m, p, m.takesInto(p)
	}
	m, err := s.Mailbox(d.To)
	if err != nil {
		return nil, "", err
	}
	return m, New, m.takesInto(New)
}

// takesInto is nil where a handoff can be written and published into p: what
// is a link there would lead out of the spool (ErrMalformed).
func (m *Mailbox) takesInto(p Place) error {
	for _, dir := range []string{m.tmpDir(), m.placeDir(p)} {
		if err := isDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (w *Delivery) open() error {
	suffix, err := w.s.suffix()
	if err != nil {
		return err
	}
	w.tmp = w.m.tmpFile(w.h.ID, suffix)
	if err := w.m.retry(func() error {
		w.f, err = w.s.fs.Create(w.tmp)
		return err
	}); err != nil {
		return err
	}
	head := w.h.encode()
	w.head = int64(len(head))
	if _, err = durable.TryLock(w.f); err == nil {
		_, err = w.f.Write(head)
	}
	if err != nil {
		w.Abort()
	}
	return err
}

// ID is the id that the handoff will have.
func (w *Delivery) ID() ID { return w.h.ID }

// Mailbox is the mailbox it goes to.
func (w *Delivery) Mailbox() *Mailbox { return w.m }

// To is the peer it goes to.
func (w *Delivery) To() Name { return w.h.To }

// Write adds to the body. The error is ErrTooLarge when the body grows over the
// limit, naming both figures.
func (w *Delivery) Write(p []byte) (int, error) {
	if w.h.Size+int64(len(p)) > w.max {
		return 0, Because(ErrTooLarge, fmt.Sprintf("the body has at least %d bytes, and the limit is %d", w.h.Size+int64(len(p)), w.max))
	}
	n, err := w.f.Write(p)
	w.h.Size += int64(n)
	w.sum.Write(p[:n])
	return n, w.fault(err)
}

// fault names the directory of a temp file instead of the file: by the time
// that it is told the file is gone.
func (w *Delivery) fault(err error) error {
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return &fs.PathError{Op: "write in", Path: filepath.Dir(link.New), Err: link.Err}
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok && path.Path == w.tmp {
		return &fs.PathError{Op: path.Op + " in", Path: w.m.tmpDir(), Err: path.Err}
	}
	return err
}

// Abort gives the handoff up: nothing of it is left. After a Commit it does
// nothing.
func (w *Delivery) Abort() {
	if w.f != nil {
		if !w.shown {
			_ = durable.Remove(w.tmp)
		}
		_ = w.f.Close()
		w.f = nil
	}
}

// Commit makes the handoff durable and shows it to its reader, in this order.
// The error is nil when the Report is what the disk says; ErrUnknown when the
// handoff is there but its durability or whereabouts cannot be told;
// ErrConflict when the id is another handoff's. After any other error nothing
// was delivered, and nothing is left behind.
func (w *Delivery) Commit(ctx context.Context) (Report, error) {
	r, err := w.commit(ctx)
	w.log(r, err)
	return r, w.fault(err)
}

func (w *Delivery) log(r Report, err error) {
	e := event{Event: "sent", Outcome: r.Outcome}.about(&w.h)
	e.ID = r.ID
	if r.Replayed {
		e.Event = "replayed"
	}
	if err != nil {
		e.Detail = err.Error()
	}
	w.m.log(e)
}

func (w *Delivery) commit(ctx context.Context) (Report, error) {
	defer w.Abort()
	if err := w.seal(); err != nil {
		return w.nothing(), err
	}
	switch {
	case w.key != "":
		return w.commitKeyed(ctx)
	case w.shut != nil:
		return w.sentBefore(ctx, w.h.ID)
	}
	return w.register(ctx)
}

// nothing is the report of a handoff that was not delivered.
func (w *Delivery) nothing() Report {
	return Report{ID: w.h.ID, To: w.h.To, Outcome: NotDelivered}
}

// register enters the sealed handoff into the registry and publishes it.
func (w *Delivery) register(ctx context.Context) (Report, error) {
	r := w.nothing()
	if w.given {
		unlock, err := w.s.lock(ctx, w.s.idLock(w.h.ID), lockWait)
		if err != nil {
			return r, err
		}
		defer unlock()
	}
	err := w.s.register(&w.h, w.tmp)
	switch {
	case errors.Is(err, fs.ErrExist):
		return w.replay()
	case err != nil:
		// What failed last may have been the sync of a directory that was made
		// for it: the link itself is not there.
		return r, err
	}
	if w.given {
		if found, err := w.m.find(w.h.ID); err != nil || len(found) > 0 {
			return w.foundUnregistered(found, err)
		}
		if before, found, err := w.remembered(); err != nil || found {
			return w.foundFolded(before, err)
		}
	}
	err = w.publish()
	switch {
	case errors.Is(err, fs.ErrExist): // brought by a sync tool in this moment
		return w.foundUnregistered(w.m.find(w.h.ID))
	case err != nil:
		_ = w.s.unregister(w.h.ID)
		return r, err
	}
	return w.m.settle(&w.h, w.place, r)
}

// seal completes the header with the body's size and digest, and syncs.
func (w *Delivery) seal() error {
	if w.ready {
		return nil
	}
	copy(w.h.Digest[:], w.sum.Sum(nil))
	if _, err := w.f.WriteAt(w.h.tail(), w.head-int64(tailLen)); err != nil {
		return err
	}
	w.ready = true
	return w.s.sys.Sync(w.f)
}

// publish gives the temp file its name in new/.
func (w *Delivery) publish() error {
	if err := durable.Unlock(w.f); err != nil {
		return err
	}
	err := w.m.publish(w.f, w.tmp, w.h.ID, w.place)
	w.shown = err == nil
	return err
}

// publish gives the file that f has open, named tmp, its name in p. An error
// of the rename is believed only after a look: over NFS a rename that was
// done may be reported as failed.
func (m *Mailbox) publish(f *os.File, tmp string, id ID, p Place) error {
	to := m.file(p, id)
	if p == Bad {
		if err := m.retry(func() error {
			return m.s.fs.Replace(to+reasonSuffix, []byte("its addressee was removed\n"), false)
		}); err != nil {
			return err
		}
	}
	err := m.retry(func() error { return durable.Publish(tmp, to) })
	if err == nil {
		return nil
	}
	there, lerr := os.Lstat(to)
	mine, ferr := f.Stat()
	if lerr == nil && ferr == nil && os.SameFile(there, mine) {
		_ = durable.Remove(tmp)
		return nil
	}
	return err
}
