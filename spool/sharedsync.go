package spool

import "sync"

// Shared syncs are those of the places of a mailbox, for several goroutines:
// whoever comes while a place is being synced shares the next sync of it with
// the others that do.
type sharedSyncs struct {
	mu sync.Mutex
	of map[Place]*sharedSync
}

type sharedSync struct {
	turn chan struct{} // full while somebody syncs
	next *syncing      // that has not begun
}

type syncing struct {
	done chan struct{}
	err  error
}

// do returns the error of a call of sync for p that began after do did.
func (s *sharedSyncs) do(p Place, sync func() error) error {
	s.mu.Lock()
	place := s.place(p)
	mine := place.next
	first := mine == nil
	if first {
		mine = &syncing{done: make(chan struct{})}
		place.next = mine
	}
	s.mu.Unlock()
	if !first {
		<-mine.done
		return mine.err
	}
	place.turn <- struct{}{}
	s.mu.Lock()
	place.next = nil // from here on it is too late to share this one
	s.mu.Unlock()
	mine.err = sync()
	<-place.turn
	close(mine.done)
	return mine.err
}

func (s *sharedSyncs) place(p Place) *sharedSync {
	if s.of == nil {
		s.of = make(map[Place]*sharedSync)
	}
	if s.of[p] == nil {
		s.of[p] = &sharedSync{turn: make(chan struct{}, 1)}
	}
	return s.of[p]
}
