//go:build !race

package board

import "testing"

// TestAllocations pins how often a merge, and what comes before it, asks for
// memory.
func TestAllocations(t *testing.T) {
	card, other := longCard(t)
	text := card.Format()
	for _, path := range []struct {
		name string
		most float64
		do   func()
	}{
		{"join", 3, func() { Join(card, other) }},
		{"parse", 82, func() {
			if _, err := Parse(text); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		if got := testing.AllocsPerRun(10, path.do); got > path.most {
			t.Errorf("%s: %.0f allocations, at most %.0f", path.name, got, path.most)
		}
	}
}
