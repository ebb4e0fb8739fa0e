package reap

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"xfer/spool"
	"xfer/spool/board"
)

// A Done is one thing that the sweep did, or would not do.
type Done struct {
	Item
	Did string // what was done, where that is not said by the kind
	Err error
}

// A Sweep is one gc at work.
type Sweep struct {
	R    *spool.Reaping
	S    *spool.Spool
	Keep Keep
	Now  func() time.Time
	Dry  bool       // only say what would go
	Tell func(Done) // may be nil; called as things go

	first    error
	finished map[spool.Name][]spool.Leftover
	links    []spool.Leftover
	segments map[string][]string // by peer and month: names
}

// Run surveys and sweeps. What cannot be removed is told and passed over; the
// error is the first of them, after all had their turn.
func (w *Sweep) Run(ctx context.Context) error {
	w.finished = make(map[spool.Name][]spool.Leftover)
	w.segments = make(map[string][]string)
	if err := w.R.Survey(ctx, func(l spool.Leftover) error {
		w.see(ctx, l)
		return ctx.Err()
	}); err != nil {
		return err
	}
	w.letGo(ctx)
	w.fold(ctx)
	w.merge()
	w.board(ctx)
	return w.first
}

// see decides about one leftover; what goes by itself goes at once, so that a
// full disk has room by the time that something has to be written.
func (w *Sweep) see(ctx context.Context, l spool.Leftover) {
	it, goes := w.Keep.Decide(l, w.Now())
	if !goes {
		if l.Kind == spool.LeftPast || l.Kind == spool.LeftMemory {
			w.remember(l)
		}
		return
	}
	switch {
	case l.Kind == spool.LeftKey:
		if known, err := w.R.Known(&l); known || err != nil {
			return
		}
	case w.Dry:
	case l.Kind == spool.LeftFinished, l.Kind == spool.LeftSetAside:
		w.finished[l.Peer] = append(w.finished[l.Peer], l)
		return
	case l.Kind == spool.LeftLink:
		w.links = append(w.links, l)
		return
	}
	if w.Dry {
		w.tell(Done{Item: it})
		return
	}
	did, err := w.one(ctx, &l)
	if !spool.Kept(err) {
		w.tell(Done{Item: it, Did: did, Err: err})
	}
}

// one removes or settles one leftover.
func (w *Sweep) one(ctx context.Context, l *spool.Leftover) (did string, err error) {
	switch l.Kind {
	case spool.LeftTemp:
		return "", w.R.DropTemp(ctx, l)
	case spool.LeftCopy, spool.LeftConcluded, spool.LeftNotWhole:
		return w.R.Settle(ctx, l, l.Kind == spool.LeftNotWhole)
	case spool.LeftStray:
		return w.R.DropStray(l)
	case spool.LeftLog:
		return "", w.R.RotateLog(l)
	}
	return "", w.R.Drop(l)
}

func (w *Sweep) tell(d Done) {
	if d.Err != nil && w.first == nil {
		w.first = d.Err
	}
	if w.Tell != nil {
		w.Tell(d)
	}
}

// letGo lets the finished handoffs of each mailbox go.
func (w *Sweep) letGo(ctx context.Context) {
	for _, peer := range sortedNames(w.finished) {
		n, size, err := w.R.LetGo(ctx, peer, w.finished[peer])
		if n > 0 || err != nil {
			w.tell(Done{Item: Item{Leftover: spool.Leftover{Kind: spool.LeftFinished, Peer: peer, Size: size}, Why: "kept long enough"}, Did: count(n), Err: err})
		}
	}
}

func (w *Sweep) fold(ctx context.Context) {
	n, err := w.R.FoldLinks(ctx, w.links)
	if n > 0 || err != nil {
		w.tell(Done{Item: Item{Leftover: spool.Leftover{Kind: spool.LeftLink}, Why: "their handoffs went elsewhere"}, Did: count(n), Err: err})
	}
}

// remember groups the segments that are kept, to be merged: this host's own of
// one mailbox and month.
func (w *Sweep) remember(l spool.Leftover) {
	month, ok := monthOf(l.Name)
	if !ok {
		return
	}
	if l.Kind == spool.LeftPast && !strings.HasPrefix(l.Name, string(w.S.Host())+"."+month+".") {
		return // another host's, which merges it
	}
	key := string(l.Peer) + " " + month
	w.segments[key] = append(w.segments[key], l.Name)
}

func (w *Sweep) merge() {
	for key, names := range w.segments {
		if len(names) < 2 || w.Dry {
			continue
		}
		peer := spool.Name(key[:len(key)-len(" 200601")])
		merge := w.R.MergeMemory
		kind := spool.LeftMemory
		if peer != "" {
			kind = spool.LeftPast
			merge = func(names []string, settled time.Duration) (string, error) {
				return w.R.MergePast(peer, names, settled)
			}
		}
		did, err := merge(names, w.Keep.Temp)
		if !spool.Kept(err) {
			w.tell(Done{Item: Item{Leftover: spool.Leftover{Kind: kind, Peer: peer}, Why: "of one month"}, Did: did, Err: err})
		}
	}
}

// board merges what a sync tool or a crash left of cards, and drops what
// removed ones left, past its time.
func (w *Sweep) board(ctx context.Context) {
	b := board.Open(w.S)
	v, err := b.Survey()
	if err != nil {
		w.card("", "", err)
		return
	}
	merge := make(map[board.CardID]bool)
	for _, f := range append(v.Copies, v.Left...) {
		merge[f.Card] = merge[f.Card] || f.Err == nil
	}
	for id, whole := range merge {
		if !whole {
			continue // told by doctor
		}
		if !w.Dry {
			_, err = b.Read(ctx, id) // merges
		}
		w.card(id, "merged what a sync tool or a crash left beside it", err)
	}
	for _, f := range v.Removed {
		if w.Now().Sub(f.At) <= w.Keep.Done {
			continue
		}
		removed := w.Dry
		if !w.Dry {
			removed, err = b.Expire(ctx, f.Card, f.At.Add(time.Nanosecond))
		}
		if removed || err != nil {
			w.card(f.Card, "forgot the removed card", err)
		}
	}
}

// Card is what a board's leftovers are told as.
const Card spool.LeftoverKind = "card"

func (w *Sweep) card(id board.CardID, did string, err error) {
	if errors.Is(err, spool.ErrLocked) {
		return
	}
	w.tell(Done{Item: Item{Leftover: spool.Leftover{Kind: Card, Name: string(id)}, Why: "a card"}, Did: did, Err: err})
}

func count(n int) string { return strconv.Itoa(n) + " let go" }

func sortedNames(m map[spool.Name][]spool.Leftover) []spool.Name { return slices.Sorted(maps.Keys(m)) }
