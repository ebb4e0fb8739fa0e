//go:build !race

package spool

import (
	"context"
	"io"
	"math"
	"testing"
)

// TestAllocations pins how often the paths that are taken once a handoff ask
// for memory: what grows here grows with every handoff.
func TestAllocations(t *testing.T) {
	const runs, tries = 100, 3
	ctx := context.Background()
	header := onDisk("01kb9w6t3v8f5s7q2m4x0c1d9e", nil, "")
	sender, taker, listed := stock(t, 0), stock(t, tries*(runs+1)), stock(t, runs)
	q, err := taker.Queue(Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []struct {
		name string
		most float64
		do   func() error
	}{
		{"parse a header", 17, func() error {
			_, _, err := parseHeader(header)
			return err
		}},
		{"deliver", 120, func() error {
			_, err := send(sender.s, note(""), benchBody)
			return err
		}},
		{"take", 111, func() error {
			c, err := q.Next(ctx)
			if err != nil {
				return err
			}
			defer c.Release()
			if _, err := io.Copy(io.Discard, c.Body()); err != nil {
				return err
			}
			return c.Taken("")
		}},
		{"list a page of 100", 6540, func() error {
			_, err := listed.List(ctx, []Place{New, Cur, Work}, Filter{}, "", runs)
			return err
		}},
	} {
		// The least of a few: what runs beside it is counted too.
		got := math.Inf(1)
		for try := 0; try < tries && got > path.most; try++ {
			got = min(got, testing.AllocsPerRun(runs, func() {
				if err := path.do(); err != nil {
					t.Fatal(err)
				}
			}))
		}
		if got > path.most {
			t.Errorf("%s: %.0f allocations, at most %.0f", path.name, got, path.most)
		}
	}
}
