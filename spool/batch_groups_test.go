//go:build !xfer_pin

package spool

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// While a group is held up at its last sync, one behind it is written and
// another committed as far as it goes; they are answered for in their order.
func TestGroupsAreUnderWayTogether(t *testing.T) {
	s, d := batchSpool(t)
	held := make(chan struct{})
	d.at(d.new, func() { <-held })
	g := s.NewGroups()
	var told []int
	var sent []ID
	for i := range groupsAtOnce + 2 {
		if i == groupsAtOnce {
			close(held) // else no batch is to be had
		}
		b, err := g.Next()
		if err != nil {
			t.Fatal(err)
		}
		g.Commit(context.Background(), b, added(t, b, note("")), func(reports []Report, errs []error) error {
			told, sent = append(told, i), append(sent, reports[0].ID)
			return errs[0]
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 2, 3, 4}; !slices.Equal(told, want) {
		t.Errorf("answered for %v, want %v", told, want)
	}
	if !slices.IsSorted(sent) {
		t.Errorf("the ids do not rise: %v", sent)
	}
}

// An answer that cannot be told ends all: what is behind it is not sent.
func TestGroupsEndWithAnAnswer(t *testing.T) {
	s, d := batchSpool(t)
	held, broken := make(chan struct{}), errors.New("nobody reads")
	d.at(d.new, func() { <-held })
	g := s.NewGroups()
	var first ID
	for i := range groupsAtOnce {
		b, err := g.Next()
		if err != nil {
			t.Fatal(err)
		}
		g.Commit(context.Background(), b, added(t, b, note("")), func(reports []Report, _ []error) error {
			if i > 0 {
				t.Errorf("group %d is answered for", i)
			}
			first = reports[0].ID
			return broken
		})
	}
	close(held)
	if _, err := g.Next(); !errors.Is(err, broken) {
		t.Errorf("next: %v", err)
	}
	if err := g.Wait(); !errors.Is(err, broken) {
		t.Errorf("wait: %v", err)
	}
	m := mailbox(t, s, "bob")
	wantFiles(t, m, "tmp")
	wantFiles(t, m, "new", string(first))
}
