package reap

import (
	"context"
	"errors"
	"time"

	"xfer/spool"
)

// Thresholds of what is worth a word.
const (
	overdueAfter = 24 * time.Hour
	manyQueued   = 1000
)

// peers looks at who receives, and how much waits.
func (d *Doctor) peers(ctx context.Context) error {
	names, err := d.S.Peers()
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := d.S.Mailbox(n)
		if err != nil {
			d.say("peer", spool.Fault, "peers/"+string(n), spool.Say("it cannot be worked: %s", spool.Cause{Err: err}), "")
			continue
		}
		st, err := m.Judge(true)
		if errors.Is(err, spool.ErrOwnFile) {
			continue // told by the check of claims
		}
		if err != nil {
			return err
		}
		d.peer(st)
		if err := d.homes(m, st); err != nil {
			return err
		}
	}
	return nil
}

// peer is about one mailbox: who receives for it, and what waits there.
func (d *Doctor) peer(st *spool.State) {
	path := "peers/" + string(st.Peer)
	here := st.Live.Host == "" || st.Live.Host.Same(d.S.Host()) // else another host's to mend
	remedy := func(command string) string {
		if !here {
			return ""
		}
		return command
	}
	receive := remedy("xfer-recv" + d.Reach + " --as " + string(st.Peer))
	switch st.Verdict {
	case spool.Crashed:
		d.say("receiver", spool.Warning, path, spool.Say("its receiver crashed"), receive)
	case spool.Mismatch:
		d.say("receiver", spool.Fault, path, spool.Say("another machine claims it under the name %s, or in a newer format", st.Live.Host), "set XFER_HOST to another name on one of the machines")
	}
	old := !st.OldestAt.IsZero() && d.Now().Sub(st.OldestAt) > overdueAfter // zero: it has just gone
	switch queued, since := spool.Figure(st.Queued), spool.Moment(st.OldestAt); {
	case st.Queued == 0:
	case st.About.RemovedAt != nil:
		d.say("tombstone", spool.Note, path, spool.Say("%s arrived after it was removed", queued), remedy(d.inbox(st.Peer, "create")))
	case old && st.About.Hold:
		d.say("hold", spool.Warning, path, spool.Say("on hold: %s queued, the oldest since %s", queued, since), remedy(d.inbox(st.Peer, "unhold")))
	case old:
		d.say("backlog", spool.Warning, path, spool.Say("%s queued, the oldest since %s", queued, since), receive)
	case st.Queued > manyQueued:
		d.say("backlog", spool.Note, path, spool.Say("%s queued", queued), receive)
	}
}

// overdue looks at tasks that were taken long ago.
func (d *Doctor) overdue(ctx context.Context) error {
	names, err := d.S.Peers()
	if err != nil {
		return err
	}
	for _, n := range names {
		m, err := d.S.Mailbox(n)
		if err != nil {
			continue
		}
		taken, err := m.TakenBefore(ctx, d.Now().Add(-overdueAfter))
		if err != nil {
			return err
		}
		for _, id := range taken {
			remedy := d.inbox(n, "release "+string(id))
			if home, err := m.Home(); err != nil || !home.Same(d.S.Host()) {
				remedy = "" // not this host's to move
			}
			d.say("overdue", spool.Warning, "peers/"+string(n)+"/work/"+string(id), spool.Say("taken over a day ago, and not concluded"), remedy)
		}
	}
	return nil
}
