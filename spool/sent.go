package spool

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"

	"xfer/internal/durable"
)

// Counts is how many handoffs stand in each place; names only are read.
func (m *Mailbox) Counts() (map[Place]int, error) {
	counts := make(map[Place]int, len(Places))
	for _, p := range Places {
		l, err := m.scan(p)
		if err != nil {
			return nil, err
		}
		counts[p] = 0
		for _, e := range l.entries {
			if p != Bad || isID(e.file) {
				counts[p]++
			}
		}
	}
	return counts, nil
}

// eachSent calls do with every id in this host's registry, in no order, until
// it returns an error.
func (s *Spool) eachSent(ctx context.Context, do func(ID) error) error {
	shards, err := readNames(s.idsDir())
	if err != nil {
		return err
	}
	for _, name := range shards {
		if len(name) != 2 || !onlyCrockford(name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		ids, err := readNames(filepath.Join(s.idsDir(), name))
		if err != nil {
			return err
		}
		for _, id := range ids {
			if !isID(id) {
				continue
			}
			if err := do(ID(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// A SentHandoff is a handoff that this host sent, with what became of it.
type SentHandoff struct {
	Header
	Report     Report
	Conclusion *Header // of a task; nil while it is open
}

// SentList is one page of what this host sent.
type SentList struct {
	Handoffs []SentHandoff
	More     bool // the limit cut it short
}

// Sent lists what n sent from this host and f means, oldest first, at most
// limit of them (0: all), beginning after the id after. With open: only tasks
// whose conclusion has not come and which were not refused. What the registry
// cannot tell is passed over.
func (s *Spool) Sent(ctx context.Context, n Name, f Filter, open bool, after ID, limit int) (*SentList, error) {
	m, err := s.Mailbox(n)
	if err != nil && !errors.Is(err, ErrNoPeer) {
		return nil, err
	}
	ids, err := s.sentIDs(ctx, m, open)
	if err != nil {
		return nil, err
	}
	f.From = n
	l := &SentList{}
	peek := make([]byte, 1<<10)
	next := oldestFirst(ids, after)
	for e, ok := next(); ok; e, ok = next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if open && s.isNoTask(e.id, peek) {
			continue
		}
		h, err := s.sent(e.id, f, open)
		if err != nil {
			return nil, err
		}
		if h == nil {
			continue
		}
		if limit > 0 && len(l.Handoffs) == limit {
			l.More = true
			break
		}
		l.Handoffs = append(l.Handoffs, *h)
	}
	return l, nil
}

// sentIDs are the ids in the registry; with open, without those whose
// conclusion stands in m, which is told by names alone.
func (s *Spool) sentIDs(ctx context.Context, m *Mailbox, open bool) ([]entry, error) {
	concluded := map[ID]bool{}
	if open && m != nil {
		var err error
		if concluded, err = m.IDs(); err != nil {
			return nil, err
		}
	}
	var ids []entry
	err := s.eachSent(ctx, func(id ID) error {
		if len(concluded) == 0 || !concluded[id.Conclusion()] {
			ids = append(ids, entry{id: id})
		}
		return nil
	})
	return ids, err
}

// isNoTask tells, at the least price, that id is known to be no task. Among
// many that were sent few are open.
func (s *Spool) isNoTask(id ID, peek []byte) bool {
	n, err := durable.Peek(s.idFile(id), peek)
	if err != nil {
		return false
	}
	header, _, whole := bytes.Cut(peek[:n], []byte("\n\n"))
	if !whole {
		return false
	}
	_, rest, found := bytes.Cut(header, []byte("\nXfer-Kind: "))
	kind, _, _ := bytes.Cut(rest, []byte("\n"))
	return found && Kind(kind) != Task
}

// sent is what became of id, or nil where it is not meant.
func (s *Spool) sent(id ID, f Filter, open bool) (*SentHandoff, error) {
	r, err := s.lookup(id)
	if err != nil {
		return nil, nil // a crash, or a writer in this moment
	}
	if open && r.Kind != Task || !f.Match(&r.Header) {
		return nil, nil
	}
	h := &SentHandoff{Header: r.Header, Report: Report{ID: id, To: r.To, Outcome: Unknown}}
	if m, err := s.Mailbox(r.To); err == nil {
		found, err := m.find(id)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			h.Report.Outcome, h.Report.Detail = m.outcomeAt(rightmost(found))
		} else if f, folded, err := m.folded(id); err != nil {
			return nil, err
		} else if folded && f.Last.Handled() {
			h.Report = f.report(h.Report)
		}
	}
	if r.Kind == Task {
		if h.Conclusion, err = s.ConclusionOf(&r.Header); err != nil {
			return nil, err
		}
	}
	if open && (h.Conclusion != nil || h.Report.Outcome == Refused) {
		return nil, nil
	}
	return h, nil
}

// OpenTasks are the tasks that n sent from this host and whose conclusion has
// not come, oldest first.
func (s *Spool) OpenTasks(ctx context.Context, n Name) ([]ID, error) {
	l, err := s.Sent(ctx, n, Filter{}, true, "", 0)
	if err != nil {
		return nil, err
	}
	open := []ID{}
	for _, h := range l.Handoffs {
		open = append(open, h.ID)
	}
	return open, nil
}

// ResolveSent is the one id in this host's registry that part fits. The errors
// are ErrNoHandoff, and ErrAmbiguous naming the candidates.
func (s *Spool) ResolveSent(ctx context.Context, part IDPart) (ID, error) {
	if id, whole := part.Whole(); whole {
		return id, nil
	}
	var ids []ID
	err := s.eachSent(ctx, func(id ID) error {
		if part.Fits(id) {
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return only(part, ids)
}
