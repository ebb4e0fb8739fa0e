package spool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var benchBody = strings.Repeat("a line of a body of the usual length\n", 25)

// stock is bob's mailbox with n handoffs queued, none of which was synced.
func stock(t testing.TB, n int) *Mailbox {
	t.Helper()
	s, err := OpenOrCreate(filepath.Join(t.TempDir(), "spool"), machine(here))
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := s.Create(context.Background(), "bob", "")
	if err != nil {
		t.Fatal(err)
	}
	restock(t, m, n)
	return m
}

func restock(t testing.TB, m *Mailbox, n int) {
	t.Helper()
	for range n {
		id, err := m.s.sys.NewID()
		if err == nil {
			err = os.WriteFile(m.file(New, id), onDisk(id, nil, benchBody), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkParseHeader(b *testing.B) {
	text := onDisk("01kb9w6t3v8f5s7q2m4x0c1d9e", nil, "")
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := parseHeader(text); err != nil {
			b.Fatal(err)
		}
	}
}

// What a delivery costs beside its syncs.
func BenchmarkDeliver(b *testing.B) {
	m := stock(b, 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := send(m.s, note(""), benchBody); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	m := stock(b, 0)
	b.ReportAllocs()
	batch := m.s.NewBatch()
	var group []*Delivery
	for b.Loop() {
		w, err := batch.Add(note(""))
		if err == nil {
			_, err = w.Write([]byte(benchBody))
		}
		if err != nil {
			b.Fatal(err)
		}
		batch.Seal(w)
		if group = append(group, w); len(group) == 256 {
			batch.Commit(context.Background(), group)
			group = group[:0]
		}
	}
	batch.Abort(group)
}

func BenchmarkTake(b *testing.B) { benchmarkTake(b, 1) }

func BenchmarkTakeTogether(b *testing.B) { benchmarkTake(b, 64) }

func benchmarkTake(b *testing.B, together int) {
	m := stock(b, b.N)
	q, err := m.Queue(Filter{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for taken := 0; taken < b.N; {
		claims, err := q.NextGroup(context.Background(), min(together, b.N-taken))
		if err != nil || len(claims) == 0 {
			b.Fatalf("%d taken, %v", taken, err)
		}
		for _, err := range TakenTogether(claims, "") {
			if err != nil {
				b.Fatal(err)
			}
		}
		for _, c := range claims {
			c.Release()
		}
		taken += len(claims)
	}
}

func BenchmarkReceive(b *testing.B) {
	m := stock(b, b.N)
	r, err := m.Receive(context.Background(), ReceiverOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	q, err := r.Arrivals(true)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; {
		claims, err := r.Next(context.Background(), q, 0)
		if err != nil || len(claims) == 0 {
			b.Fatalf("%d received, %v", n, err)
		}
		n += len(claims)
		if err := r.Received(claims); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkListPage(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := stock(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.List(context.Background(), []Place{New, Cur, Work}, Filter{}, "", 100); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFolded looks an id up that no segment has, which is what nearly every
// look finds.
func BenchmarkFolded(b *testing.B) {
	for _, segments := range []int{1, 13} {
		for _, records := range []int{1000, 100_000} {
			b.Run(fmt.Sprintf("%d of %d", segments, records), func(b *testing.B) {
				m := stock(b, 0)
				for range segments {
					all := make([]Folded, records)
					for i := range all {
						all[i].ID, _ = m.s.sys.NewID()
						all[i].Last = lastDone
					}
					if err := m.Fold(all); err != nil {
						b.Fatal(err)
					}
				}
				id, _ := m.s.sys.NewID()
				b.ReportAllocs()
				for b.Loop() {
					if _, found, err := m.folded(id); found || err != nil {
						b.Fatal(found, err)
					}
				}
			})
		}
	}
}
