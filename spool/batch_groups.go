package spool

import (
	"context"

	"xfer/internal/durable"
)

// Groups are the groups of a batch that are under way: while one is read and
// written another is synced, and the one before it published. They are
// published, and answered for, in their order. Groups are used from one
// goroutine.
type Groups struct {
	// Most is how many a group should have at most: beyond mostInGroup there is
	// little left to share, and each keeps a file open until its group has ended.
	Most int

	free chan endedGroup
	turn chan error // has what the group before ended with
}

// An endedGroup is a batch for the next group, and what kept its last one from
// its end.
type endedGroup struct {
	*Batch
	err error
}

const (
	mostInGroup = 256
	openBeside  = syncTogether + 16 // files, for moments
)

// NewGroups begins with nothing under way.
func (s *Spool) NewGroups() *Groups {
	most := max(1, min(mostInGroup, (durable.MostOpen()-openBeside)/groupsAtOnce))
	g := &Groups{Most: most, free: make(chan endedGroup, groupsAtOnce), turn: make(chan error, 1)}
	for range groupsAtOnce {
		g.free <- endedGroup{Batch: s.NewBatch()}
	}
	g.turn <- nil
	return g
}

// Next is a batch to write the next group with, which Commit ends, or its own
// Abort. It waits for the oldest group where three are under way: an error is
// that of its answer. Then nothing is under way any more, and this is the end.
func (g *Groups) Next() (*Batch, error) {
	ended := <-g.free
	if ended.err != nil {
		_ = g.Wait()
	}
	return ended.Batch, ended.err
}

// Commit begins to commit a group of b, which is done when those before it
// are. What became of it goes to answer, from another goroutine, as
// Batch.Commit has it; when answer fails, the groups behind it are given up.
func (g *Groups) Commit(ctx context.Context, b *Batch, all []*Delivery, answer func([]Report, []error) error) {
	before, turn := g.turn, make(chan error, 1)
	g.turn = turn
	end := func() {
		b.Sync(all)
		err := <-before
		if err != nil {
			b.Abort(all)
		} else {
			err = answer(b.Commit(ctx, all))
		}
		turn <- err
		g.free <- endedGroup{b, err}
	}
	if groupsAtOnce == 1 {
		end()
		return
	}
	go end()
}

// Wait waits until nothing is under way, and returns what an answer failed
// with.
func (g *Groups) Wait() error {
	err := <-g.turn
	g.turn <- err
	return err
}
