package spool

import (
	"slices"
	"time"
)

// A Filter says which handoffs are meant. Its zero value lets all pass.
type Filter struct {
	From, To      Name
	Kinds         []Kind
	Labels        []Label   // all of them
	Since, Before time.Time // of sending; Since is included
}

// Match tells whether h is meant.
func (f *Filter) Match(h *Header) bool {
	switch {
	case f.From != "" && h.From != f.From,
		f.To != "" && h.To != f.To,
		len(f.Kinds) > 0 && !slices.Contains(f.Kinds, h.Kind),
		!f.Since.IsZero() && h.Date.Before(f.Since),
		!f.Before.IsZero() && !h.Date.Before(f.Before):
		return false
	}
	for _, l := range f.Labels {
		if !slices.Contains(h.Labels, l) {
			return false
		}
	}
	return true
}
