package handler

import (
	"encoding/binary"
	"io"
	"time"
)

const (
	firstPause = time.Second
	longest    = 5 * time.Minute
)

// Backoff is how long to wait after the nth failure, from 1: twice as long each
// time, five minutes at most, a quarter more or less by what random says, so
// that many that failed together do not come back together.
func Backoff(n int, random io.Reader) time.Duration {
	pause := longest
	if n < 10 {
		pause = min(longest, firstPause<<(max(n, 1)-1))
	}
	var b [2]byte
	_, _ = io.ReadFull(random, b[:]) // without chance they come back together, no worse
	chance := time.Duration(binary.BigEndian.Uint16(b[:]))
	return pause*3/4 + pause/2*chance/(1<<16)
}

// A Rate spaces starts evenly. Its zero value does not.
type Rate struct {
	every time.Duration
	next  time.Time
}

// NewRate allows n starts a second; 0 allows any number.
func NewRate(n float64) *Rate {
	if n <= 0 {
		return &Rate{}
	}
	return &Rate{every: time.Duration(float64(time.Second) / n)}
}

// Wait is how long to wait before the next start.
func (r *Rate) Wait(now time.Time) time.Duration { return max(0, r.next.Sub(now)) }

// Started counts a start.
func (r *Rate) Started(now time.Time) {
	if r.next.Before(now) {
		r.next = now
	}
	r.next = r.next.Add(r.every)
}
