package spool

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
)

// A Node is a handoff in its conversation.
type Node struct {
	Listed
	Depth int // 0: it answers nothing that is here
}

// Conversation is every handoff of the spool that descends from the same root
// as id, each below what it answers, in the order of sending. What cannot be
// read is passed over. The error is ErrNoHandoff.
func (s *Spool) Conversation(ctx context.Context, id ID) ([]Node, error) {
	f, _, err := s.OpenAny(id)
	if err != nil {
		return nil, err
	}
	_ = f.Close()
	root := f.Conversation()
	here := make(map[ID]*Listed)
	peers, err := s.Peers()
	if err != nil {
		return nil, err
	}
	for _, n := range peers {
		m, err := s.Mailbox(n)
		if err != nil {
			continue
		}
		if err := m.gather(ctx, root, here); err != nil {
			return nil, err
		}
	}
	return asTree(here), nil
}

// gather adds what of the conversation of root stands in this mailbox.
func (m *Mailbox) gather(ctx context.Context, root ID, here map[ID]*Listed) error {
	for _, p := range Places {
		l, err := m.scan(p)
		if err != nil {
			return err
		}
		for _, e := range l.entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			h, err := m.listed(e)
			if errors.Is(err, fs.ErrNotExist) || err != nil && passIncomplete(err) == nil {
				continue
			}
			if err != nil {
				return err
			}
			// From left to right: of two copies the rightmost counts, and the
			// addressee's before another's.
			if before := here[e.id]; h.Conversation() == root && (before == nil || h.To == m.name) {
				here[e.id] = h
			}
		}
	}
	return nil
}

// asTree puts each handoff below the nearest ancestor that is here.
func asTree(here map[ID]*Listed) []Node {
	below := make(map[ID][]*Listed)
	for _, h := range here {
		parent := ID("")
		for _, id := range append(slices.Clone(h.References), h.InReplyTo) {
			if here[id] != nil && id != h.ID {
				parent = id
			}
		}
		below[parent] = append(below[parent], h)
	}
	for _, all := range below {
		slices.SortFunc(all, func(a, b *Listed) int {
			return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.ID, b.ID))
		})
	}
	var nodes []Node
	seen := make(map[ID]bool) // two that claim to answer one another are no reason to run for ever
	var visit func(parent ID, depth int)
	visit = func(parent ID, depth int) {
		for _, h := range below[parent] {
			if !seen[h.ID] {
				seen[h.ID] = true
				nodes = append(nodes, Node{*h, depth})
				visit(h.ID, depth+1)
			}
		}
	}
	visit("", 0)
	// Whoever claim to answer one another descend from nobody.
	for _, id := range slices.Sorted(maps.Keys(here)) {
		if !seen[id] {
			seen[id] = true
			nodes = append(nodes, Node{*here[id], 0})
			visit(id, 1)
		}
	}
	return nodes
}
