package spool

import (
	"context"
	"os"
	"path/filepath"
)

// A Batch delivers many handoffs at the price of few. The promise is that of
// one: all files are written and synced, several at once, then linked and
// published one after the other, then each directory that changed is synced
// once, and only then is an outcome read and told. It delivers in groups: Add
// and Seal for each of a group, then Sync and Commit, from one goroutine after
// the other. Several batches of a spool may be on their way at once: while one
// is published, another is synced and a third written.
type Batch struct {
	lazy *Spool // records what it is to sync
	sync func(*os.File) error

	boxes map[Name]*Mailbox // of the group
	peers map[Name]peerRead // of the group, since it was last looked
	lines []byte            // for the log, of the group

	faults map[*Delivery]error // of sealing and syncing
	synced bool                // the files of the group, or it is in faults

	dirty     map[string]bool // directories
	published bool            // by the last commit of one
}

// A peerRead is what peer.json said, or why it could not be read.
type peerRead struct {
	Peer
	err error
}

// NewBatch begins a batch.
func (s *Spool) NewBatch() *Batch {
	b := &Batch{sync: s.sys.Sync, dirty: make(map[string]bool)}
	lazy := *s
	lazy.sys = s.sys.WithoutSync()
	lazy.fs.Sync = func(f *os.File) error {
		b.mark(f.Name())
		return nil
	}
	b.lazy = &lazy
	b.clear()
	return b
}

func (b *Batch) clear() {
	b.boxes, b.peers = make(map[Name]*Mailbox), make(map[Name]peerRead)
	b.faults, b.lines, b.synced = make(map[*Delivery]error), b.lines[:0], false
}

// Add begins a delivery of this group; its errors are those of NewDelivery.
func (b *Batch) Add(d Draft) (*Delivery, error) {
	if d.Kind == Conclusion {
		return b.lazy.NewDelivery(d)
	}
	m, err := b.mailbox(d.To)
	if err != nil {
		return nil, err
	}
	return m.begin(d, New)
}

// mailbox is looked for once in a group.
func (b *Batch) mailbox(n Name) (*Mailbox, error) {
	if m := b.boxes[n]; m != nil {
		return m, nil
	}
	m, err := b.lazy.Mailbox(n)
	if err == nil {
		err = m.takesInto(New)
	}
	if err != nil {
		return nil, err
	}
	m.batch = b
	b.boxes[n] = m
	return m, nil
}

// peer is what the peer.json of m said when this group was first asked for it,
// or when it was published.
func (b *Batch) peer(m *Mailbox) (Peer, error) {
	r, known := b.peers[m.name]
	if !known {
		r.Peer, r.err = m.lookPeer()
		b.peers[m.name] = r
	}
	return r.Peer, r.err
}

func (b *Batch) log(line []byte) { b.lines = append(b.lines, line...) }

// Seal says that the body is written: nothing but Sync and Commit is to be done
// with it.
func (b *Batch) Seal(w *Delivery) {
	if err := w.seal(); err != nil {
		b.faults[w] = err
	}
}

// A batched is one delivery of a group in Commit.
type batched struct {
	w      *Delivery
	report Report
	err    error

	published bool // its outcome is to be read
}

// Commit ends the deliveries of a group, which Seal was called for, in their
// order; one that is nil is passed over. Those that Sync was not called for are
// synced first. Each has a report and an error as Delivery.Commit has them.
func (b *Batch) Commit(ctx context.Context, all []*Delivery) ([]Report, []error) {
	if !b.synced {
		b.Sync(all)
	}
	group := make([]batched, len(all))
	for i, w := range all {
		if w != nil {
			group[i] = batched{w: w, report: w.nothing(), err: b.faults[w]}
		}
	}
	b.placeKeys(ctx, group)
	for i := range group {
		if group[i].w != nil {
			b.publish(ctx, &group[i])
		}
	}
	clear(b.peers) // an outcome is as of now
	lost := b.syncDirty()
	reports, errs := make([]Report, len(all)), make([]error, len(all))
	for i := range group {
		if g := &group[i]; g.w != nil {
			g.settle(lost)
			g.w.log(g.report, g.err)
			g.err = g.w.fault(g.err)
		}
		reports[i], errs[i] = group[i].report, group[i].err
	}
	if len(b.lines) > 0 {
		b.lazy.appendLog(b.lines)
	}
	b.clear()
	return reports, errs
}

// Abort gives up what Seal was called for in a group that is not to be
// committed; nothing of it is left.
func (b *Batch) Abort(all []*Delivery) {
	for _, w := range all {
		if w != nil {
			w.Abort()
		}
	}
	b.clear()
}

// publish links and publishes one.
func (b *Batch) publish(ctx context.Context, g *batched) {
	if g.err != nil {
		g.w.Abort()
		return
	}
	// What was published since Add has taken room.
	if p, err := g.w.m.Peer(); g.w.shut == nil && err == nil && p.MaxQueued > 0 && g.w.h.Kind != Conclusion {
		g.w.shut = g.w.m.hasRoom(p.MaxQueued)
	}
	b.published = false
	g.report, g.err = g.w.commit(ctx)
	g.published = b.published
}

// unsettled says that a handoff was published in a directory.
func (b *Batch) unsettled(dir string) {
	b.published = true
	b.mark(dir)
}

// settle reads what became of one, if what makes it durable was synced: lost
// are the directories that could not be.
func (g *batched) settle(lost map[string]error) {
	if !g.published || g.err != nil {
		return
	}
	w := g.w
	for _, dir := range []string{w.m.placeDir(w.place), w.m.dir, filepath.Dir(w.m.dir), w.s.shardDir(g.report.ID), w.s.idsDir()} {
		if err := lost[dir]; err != nil {
			g.report.Outcome, g.err = Unknown, unsure(err)
			return
		}
	}
	g.report, g.err = w.m.settled(g.report.ID, w.place, g.report)
}
