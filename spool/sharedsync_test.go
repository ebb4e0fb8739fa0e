package spool

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// Whoever comes while a sync is under way is not answered by that one: what it
// renamed may have come too late for it.
func TestSharedSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const late = 10
		var s sharedSyncs
		var syncs atomic.Int32
		begun, goOn := make(chan struct{}), make(chan struct{})
		failing := errors.New("the second one fails")
		do := func() error {
			if syncs.Add(1) > 1 {
				return failing
			}
			close(begun)
			<-goOn
			return nil
		}
		var all sync.WaitGroup
		all.Go(func() {
			if err := s.do(Finished, do); err != nil {
				t.Error(err)
			}
		})
		<-begun
		for range late {
			all.Go(func() {
				if err := s.do(Finished, do); !errors.Is(err, failing) {
					t.Errorf("%v, want that of a sync that began later", err)
				}
			})
		}
		all.Go(func() {
			if err := s.do(Work, func() error { return nil }); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if n := syncs.Load(); n != 1 {
			t.Errorf("%d syncs of one place at once", n)
		}
		close(goOn)
		all.Wait()
		if n := syncs.Load(); n != 2 {
			t.Errorf("%d syncs, want one that is shared by those that came late", n)
		}
	})
}
