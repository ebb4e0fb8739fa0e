package board

import (
	"fmt"
	"strings"
	"testing"
)

// longCard is a card of about 100 KiB, and a version of it with some entries
// more and some less.
func longCard(t testing.TB) (card, other *Card) {
	t.Helper()
	text := func(skip int) []byte {
		var b strings.Builder
		b.WriteString("---\nid: plan\ntitle: The plan\n---\n")
		for i := range 700 {
			if i%50 != skip {
				fmt.Fprintf(&b, "\n### 01kb9w6t3v8f5s7q2m4x%06d · note · alice · 2026-11-30T06:33:33Z\n\na line of a usual length, about what one would say\n", i)
			}
		}
		return []byte(b.String())
	}
	var err error
	if card, err = Parse(text(1)); err == nil {
		other, err = Parse(text(2))
	}
	if err != nil {
		t.Fatal(err)
	}
	return card, other
}

func BenchmarkJoin(b *testing.B) {
	card, other := longCard(b)
	b.ReportAllocs()
	for b.Loop() {
		Join(card, other)
	}
}
