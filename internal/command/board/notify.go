package boardcmd

import (
	"context"
	"fmt"
	"xfer/internal/command"

	"xfer/spool"
	"xfer/spool/board"
)

// mayNotify is nil where every peer of --notify lets a notification in: nothing
// is appended for a peer that is not there.
func (a *appending) mayNotify() error {
	for _, n := range a.notify {
		d, err := a.Spool.NewDelivery(spool.Draft{From: a.Name, To: n, Kind: spool.Notification, Subject: "board"})
		if err != nil {
			return a.PeerError("notify", n, err)
		}
		d.Abort()
	}
	return nil
}

// sendNotice tells n of an entry. Its id is computed from the entry's, so that
// an append that is repeated with its key completes it and never doubles it.
func (a *appending) sendNotice(n spool.Name, card board.CardID, done *board.Appended) error {
	e := &done.Entry
	d, err := a.Spool.NewDelivery(spool.Draft{
		ID:   e.ID.Keyed("notify " + string(n) + " " + string(e.ID)),
		From: a.Name, To: n, Kind: spool.Notification, Type: "text/markdown; charset=utf-8",
		Subject: command.Cut(command.OneLine("new " + e.Type + " on " + string(card) + ": " + done.Title)),
	})
	if err != nil {
		return err
	}
	defer d.Abort()
	if _, err := fmt.Fprintf(d, "card: %s\nentry: %s\n\n    xfer-board show %s %s\n", card, e.ID, card, e.ID); err != nil {
		return err
	}
	r, err := d.Commit(context.WithoutCancel(a.Ctx))
	if err != nil {
		return err
	}
	if r.Outcome == spool.Refused {
		return spool.Because(spool.ErrRefused, "it was refused: "+r.Detail)
	}
	a.Err.Say("notified %s: %s", n, r.ID)
	return nil
}
