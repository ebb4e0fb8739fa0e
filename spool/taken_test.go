package spool

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"
)

// claimAll is claims on all that is queued for bob.
func claimAll(t *testing.T, m *Mailbox) []*Claim {
	t.Helper()
	q, err := m.Queue(Filter{})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := q.NextGroup(context.Background(), 100)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range claims {
			c.Release()
		}
	})
	return claims
}

func TestTakenTogetherSharesSyncs(t *testing.T) {
	s, d := batchSpool(t)
	m := mailbox(t, s, "bob")
	task := note("")
	task.Kind = Task
	batch(t, s.NewBatch(), append(slices.Repeat([]Draft{note("")}, 20), task, task)...)
	claims := claimAll(t, m)
	d.syncs = nil
	for i, err := range TakenTogether(claims, "") {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	for place, want := range map[Place]int{Finished: 20, Work: 2} {
		if n := len(files(t, m, string(place))); n != want {
			t.Errorf("%s/ has %d, want %d", place, n, want)
		}
		if n := len(d.below(m.placeDir(place))); n != 1 {
			t.Errorf("%s/ was synced %d times, want once", place, n)
		}
	}
}

// Of what moved to a place that cannot be synced nobody can tell, and the rest
// is as it should be.
func TestTakenTogetherSyncFails(t *testing.T) {
	s, d := batchSpool(t)
	m := mailbox(t, s, "bob")
	task := note("")
	task.Kind = Task
	batch(t, s.NewBatch(), note(""), task, note(""))
	claims := claimAll(t, m)
	d.failAt(m.placeDir(Finished))
	for i, err := range TakenTogether(claims, "") {
		if failed := errors.Is(err, syscall.EIO); failed != (claims[i].Kind == Notification) {
			t.Errorf("%d: %v", i, err)
		}
	}
}
