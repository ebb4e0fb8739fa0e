package reap

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
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
	finished []spool.Leftover // of one mailbox, that are to be let go together
	links    []spool.Leftover
}

// together is how many ids are folded at once: few segments, and bounded
// memory.
const together = 1 << 16

// Run surveys and sweeps. What cannot be removed is told and passed over; the
// error is the first of them, after all had their turn.
func (w *Sweep) Run(ctx context.Context) error {
	err := w.R.Survey(ctx, w.Now().Add(-w.Keep.Temp), func(l spool.Leftover) error {
		w.see(ctx, l)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	w.letGo(ctx)
	w.fold(ctx)
	if !w.Dry {
		w.merge()
	}
	w.board(ctx)
	if w.first == nil {
		w.first = ctx.Err()
	}
	return w.first
}

// see decides about one leftover; what goes by itself goes at once, so that a
// full disk has room by the time that something has to be written.
func (w *Sweep) see(ctx context.Context, l spool.Leftover) {
	it, goes := w.Keep.Decide(l, w.Now())
	if !goes {
		return
	}
	switch l.Kind {
	case spool.LeftKey:
		if known, err := w.R.Known(&l); known || err != nil {
			return
		}
	case spool.LeftLink:
		if w.Dry && !w.R.Links(&l) {
			return
		}
	}
	if w.Dry {
		w.tell(Done{Item: it})
		return
	}
	switch l.Kind {
	case spool.LeftFinished, spool.LeftSetAside:
		w.collect(ctx, l)
		return
	case spool.LeftLink:
		if w.links = append(w.links, l); len(w.links) == together {
			w.fold(ctx)
		}
		return
	}
	did, err := w.one(ctx, &l)
	if !spool.Kept(err) {
		w.tell(Done{Item: it, Did: did, Err: err})
	}
}

// collect has l let go with others of its mailbox.
func (w *Sweep) collect(ctx context.Context, l spool.Leftover) {
	if n := len(w.finished); n == together || n > 0 && w.finished[0].Peer != l.Peer {
		w.letGo(ctx)
	}
	w.finished = append(w.finished, l)
}

// one removes or settles one leftover.
func (w *Sweep) one(ctx context.Context, l *spool.Leftover) (did string, err error) {
	switch l.Kind {
	case spool.LeftTemp:
		return "", w.R.DropTemp(ctx, l)
	case spool.LeftCopy, spool.LeftConcluded, spool.LeftNotWhole, spool.LeftMalformed, spool.LeftMisrouted:
		return w.R.Settle(ctx, l)
	case spool.LeftStray:
		return w.R.DropStray(l)
	case spool.LeftKey:
		return "", w.R.DropKey(ctx, l)
	case spool.LeftLog:
		return "", w.R.RotateLog(l)
	case spool.LeftBeside:
		return "", w.R.DropBeside(l)
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

// letGo lets the finished handoffs go that were collected.
func (w *Sweep) letGo(ctx context.Context) {
	if len(w.finished) == 0 {
		return
	}
	peer := w.finished[0].Peer
	n, size, err := w.R.LetGo(ctx, peer, w.finished)
	w.finished = w.finished[:0]
	w.many(spool.Leftover{Kind: spool.LeftFinished, Peer: peer, Size: size}, "kept long enough", n, err)
}

// fold remembers the registry entries that were collected.
func (w *Sweep) fold(ctx context.Context) {
	n, err := w.R.FoldLinks(ctx, w.links)
	w.links = w.links[:0]
	w.many(spool.Leftover{Kind: spool.LeftLink}, "their handoffs went elsewhere", n, err)
}

func (w *Sweep) many(l spool.Leftover, why string, n int, err error) {
	if n > 0 || err != nil {
		w.tell(Done{Item: Item{Leftover: l, Why: why}, Did: strconv.Itoa(n) + " let go", Err: err})
	}
}

// merge merges the segments of each month.
func (w *Sweep) merge() {
	peers, err := w.R.Mine()
	if err != nil {
		w.tell(Done{Err: err})
		return
	}
	for _, peer := range peers {
		did, err := w.R.MergePast(peer, w.Keep.Temp)
		w.merged(spool.Leftover{Kind: spool.LeftPast, Peer: peer}, did, err)
	}
	did, err := w.R.MergeMemory(w.Keep.Temp)
	w.merged(spool.Leftover{Kind: spool.LeftMemory}, did, err)
}

func (w *Sweep) merged(l spool.Leftover, did string, err error) {
	if did != "" || err != nil {
		w.tell(Done{Item: Item{Leftover: l, Why: "of one month"}, Did: did, Err: err})
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
	for _, f := range slices.Concat(v.Copies, v.Left) {
		merge[f.Card] = merge[f.Card] || f.Err == nil // else it is told by doctor
	}
	for _, id := range slices.Sorted(maps.Keys(merge)) {
		if !merge[id] {
			continue
		}
		if err = nil; !w.Dry {
			err = b.Settle(ctx, id)
		}
		w.card(id, "merged what a sync tool or a crash left beside it", err)
	}
	for _, f := range v.Removed {
		if w.Now().Sub(f.At) <= w.Keep.Done {
			continue
		}
		removed := w.Dry
		if err = nil; !w.Dry {
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
