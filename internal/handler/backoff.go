package handler

import (
	"math/rand/v2"
	"time"
)

const (
	firstPause = time.Second
	longest    = 5 * time.Minute
)

// Backoff is how long to wait after the nth failure, from 1: twice as long each
// time, five minutes at most, a quarter more or less, so that many that failed
// together do not come back together.
func Backoff(n int) time.Duration {
	pause := longest
	if n < 10 {
		pause = min(longest, firstPause<<(max(n, 1)-1))
	}
	return pause*3/4 + rand.N(pause/2)
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

// Due is how long to wait before the next start, which is taken as made then.
func (r *Rate) Due(now time.Time) time.Duration {
	if r.every == 0 {
		return 0
	}
	if r.next.Before(now) {
		r.next = now
	}
	wait := r.next.Sub(now)
	r.next = r.next.Add(r.every)
	return wait
}
