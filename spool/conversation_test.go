package spool

import (
	"context"
	"strings"
	"testing"
	"time"
)

// treeOf is a conversation as a tree of names.
func treeOf(t *testing.T, s *Spool, names map[ID]string, of ID) string {
	t.Helper()
	nodes, err := s.Conversation(context.Background(), of)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, n := range nodes {
		b.WriteString(strings.Repeat(" ", n.Depth) + names[n.ID] + "\n")
	}
	return b.String()
}

func TestConversation(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	now := time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)
	s.sys.Now = func() time.Time { now = now.Add(time.Minute); return now }
	names := map[ID]string{}
	say := func(name string, to ID, d Draft) ID {
		t.Helper()
		if to != "" {
			f, _, err := s.OpenAny(to)
			if err != nil {
				t.Fatal(err)
			}
			d.InReplyTo, d.References = to, f.Chain()
			_ = f.Close()
		}
		id := mustSend(t, s, d, name)
		names[id] = name
		return id
	}
	task := note("")
	task.Kind = Task
	back := Draft{From: "bob", To: "alice", Kind: Notification, Subject: "s"}

	root := say("root", "", task)
	say("another", "", task)
	b := say("b", root, back)
	say("a later answer to the root", root, back)
	c := say("c", b, note(""))
	concludes(t, mailbox(t, s, "bob"), root, NeedsInput)
	names[root.Conclusion()] = "conclusion"
	const want = "root\n b\n  c\n a later answer to the root\n conclusion\n"
	for _, id := range []ID{root, b, c, root.Conclusion()} {
		if got := treeOf(t, s, names, id); got != want {
			t.Errorf("of %s:\n%swant\n%s", names[id], got, want)
		}
	}

	// What is gone leaves its answers where the nearest ancestor is.
	takeAll(t, mailbox(t, s, "alice"))
	letGo(t, mailbox(t, s, "alice"), b)
	if got := treeOf(t, s, names, c); !strings.Contains(got, "\n c\n") {
		t.Errorf("without b:\n%s", got)
	}
	_, err := s.Conversation(context.Background(), newID(t, s))
	wantErr(t, err, ErrNoHandoff)
}

// Two that claim to answer one another are shown, once each.
func TestConversationThatTurnsRound(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	root, a, b := newID(t, s), newID(t, s), newID(t, s)
	for _, of := range [][2]ID{{a, b}, {b, a}} {
		put(t, m.file(New, of[0]), onDisk(of[0], func(h *Header) { h.InReplyTo, h.References = of[1], []ID{root, of[1]} }, ""))
	}
	if got := treeOf(t, s, map[ID]string{a: "a", b: "b"}, b); got != "a\n b\n" {
		t.Errorf("got\n%s", got)
	}
}

func TestChainKeepsTheRootAndTheNearest(t *testing.T) {
	s := newSpool(t)
	h := Header{ID: newID(t, s)}
	for range maxChain + 10 {
		h.References = append(h.References, newID(t, s))
	}
	chain := h.Chain()
	last := len(chain) - 1
	if len(chain) != maxChain || chain[0] != h.References[0] || chain[last] != h.ID || chain[last-1] != h.References[len(h.References)-1] {
		t.Errorf("%d ids, from %s to %s", len(chain), chain[0], chain[last])
	}
	answer := Header{InReplyTo: "x", ID: "y"}
	if c := answer.Chain(); len(c) != 2 || c[0] != "x" || c[1] != "y" {
		t.Errorf("without References: %v", c)
	}
}
