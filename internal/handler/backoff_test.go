package handler

import (
	"bytes"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestBackoff(t *testing.T) {
	least, most := strings.NewReader, func() *bytes.Reader { return bytes.NewReader([]byte{0xff, 0xff}) }
	for _, c := range []struct {
		n          int
		from, upTo time.Duration
	}{
		{0, 750 * time.Millisecond, 1250 * time.Millisecond},
		{1, 750 * time.Millisecond, 1250 * time.Millisecond},
		{2, 1500 * time.Millisecond, 2500 * time.Millisecond},
		{5, 12 * time.Second, 20 * time.Second},
		{9, 192 * time.Second, 320 * time.Second},
		{10, 225 * time.Second, 375 * time.Second},
		{1 << 40, 225 * time.Second, 375 * time.Second},
	} {
		if got := Backoff(c.n, least("\x00\x00")); got != c.from {
			t.Errorf("after %d failures at least %s, want %s", c.n, got, c.from)
		}
		if got := Backoff(c.n, most()); got >= c.upTo || got < c.upTo*999/1000 {
			t.Errorf("after %d failures up to %s, want just below %s", c.n, got, c.upTo)
		}
	}
	if got := Backoff(1, iotest.ErrReader(iotest.ErrTimeout)); got != 750*time.Millisecond {
		t.Errorf("without chance: %s", got)
	}
}

func TestRate(t *testing.T) {
	at := time.Date(2026, 11, 30, 6, 33, 33, 0, time.UTC)
	r := NewRate(10)
	for i := range 3 {
		if got := r.Wait(at); got != time.Duration(i)*100*time.Millisecond {
			t.Errorf("start %d waits %s", i, got)
		}
		r.Started(at)
	}
	// What was not started is not made up for.
	later := at.Add(time.Hour)
	if got := r.Wait(later); got != 0 {
		t.Errorf("after an hour: %s", got)
	}
	r.Started(later)
	if got := r.Wait(later); got != 100*time.Millisecond {
		t.Errorf("and after that: %s", got)
	}
	none := NewRate(0)
	none.Started(at)
	if got := none.Wait(at); got != 0 {
		t.Errorf("no rate waits %s", got)
	}
}

func TestTail(t *testing.T) {
	var tl tail
	tl.add([]byte("lost"))
	tl.add(bytes.Repeat([]byte("x"), tailSize-4))
	tl.add([]byte("last"))
	want := append(bytes.Repeat([]byte("x"), tailSize-4), "last"...)
	if got := tl.bytes(); !bytes.Equal(got, want) {
		t.Errorf("%d bytes, ends %q", len(got), got[len(got)-8:])
	}
	tl.add(bytes.Repeat([]byte("y"), 3*tailSize))
	if got := tl.bytes(); len(got) != tailSize || strings.Trim(string(got), "y") != "" {
		t.Errorf("%d bytes of a long piece", len(got))
	}
	if cap(tl.buf) > 4*tailSize {
		t.Errorf("keeps %d bytes", cap(tl.buf))
	}
}
