package spool

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// foldRounds is how often a replay races a fold: that of its handoff, or that of
// its link.
const foldRounds = 10_000

// A replay under a given id, while gc lets its handoff go and then its link,
// never delivers it anew: link first, then the segments.
func TestReplayRacesFold(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	r := reaping(t, s)
	rounds := foldRounds
	if testing.Short() {
		rounds /= 20
	}
	const together = 1250
	for done := 0; done < rounds; done += 2 * together {
		ids := make([]ID, together)
		for i := range ids {
			ids[i] = newID(t, s)
			mustSend(t, s, note(ids[i]), "body")
		}
		if bodies, notes := takeAll(t, m); len(bodies) != together {
			t.Fatalf("%d of %d taken: %s", len(bodies), together, notes)
		}
		for range 2 { // the handoffs go, then their links
			swept := make(chan struct{})
			var both sync.WaitGroup
			both.Go(func() {
				defer close(swept)
				sweepOnce(t, r)
			})
			for some := range slices.Chunk(ids, together/4) {
				both.Go(func() { replayUntil(t, s, some, swept) })
			}
			both.Wait()
		}
		q, err := m.Queue(Filter{})
		if err != nil {
			t.Fatal(err)
		}
		if c, err := q.Next(context.Background()); !errors.Is(err, io.EOF) {
			t.Fatalf("delivered anew: %+v, %v", c, err)
		}
		wantFiles(t, m, "new")
		wantFiles(t, m, "tmp")
		// Else the look-ups grow with the rounds.
		if err := os.RemoveAll(m.pastDir()); err != nil {
			t.Fatal(err)
		}
		if err := removeSegments(s); err != nil {
			t.Fatal(err)
		}
	}
}

// replayUntil sends each anew, and all over again until end is closed.
func replayUntil(t *testing.T, s *Spool, ids []ID, end <-chan struct{}) {
	for {
		for _, id := range ids {
			// What became of it may not be to be told; that it was sent is.
			if rep, err := send(s, note(id), "body"); !rep.Replayed || err != nil && !errors.Is(err, ErrUnknown) {
				t.Errorf("%s: %+v, %v", id, rep, err)
			}
		}
		select {
		case <-end:
			return
		default:
		}
	}
}

func removeSegments(s *Spool) error {
	names, err := readNames(s.idsDir())
	for _, name := range names {
		if _, ok := SegmentMonth(name); ok && err == nil {
			err = os.Remove(s.idsDir() + "/" + name)
		}
	}
	return err
}

// sweepOnce lets everything go that is finished, at once.
func sweepOnce(t *testing.T, r *Reaping) {
	var done, links []Leftover
	err := r.Survey(context.Background(), time.Now(), func(l Leftover) error {
		switch l.Kind {
		case LeftFinished:
			done = append(done, l)
		case LeftLink:
			links = append(links, l)
		}
		return nil
	})
	if err == nil {
		_, _, err = r.LetGo(context.Background(), "bob", done)
	}
	if err == nil {
		_, err = r.FoldLinks(context.Background(), links)
	}
	if err != nil {
		t.Error(err)
	}
}
