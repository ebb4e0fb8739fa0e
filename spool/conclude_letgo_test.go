package spool

import (
	"strings"
	"testing"
)

// A task that was let go is concluded only as it was.
func TestConcludeLetGo(t *testing.T) {
	for _, kept := range []bool{true, false} {
		s, m, id := aTask(t, true)
		if _, _, err := conclude(m, id, Done, "words"); err != nil {
			t.Fatal(err)
		}
		letGo(t, m, id)
		if !kept {
			alice := mailbox(t, s, "alice")
			takeAll(t, alice)
			letGo(t, alice, id.Conclusion())
		}
		r, moved, err := conclude(m, id, Done, "words")
		if err != nil || !moved || !r.Replayed || r.ID != id.Conclusion() || r.To != "alice" {
			t.Errorf("kept %t: the same is %+v, moved %t, %v", kept, r, moved, err)
		}
		for _, other := range []struct {
			e    Ending
			body string
		}{{Blocked, "words"}, {Done, "other"}} {
			_, _, err := conclude(m, id, other.e, other.body)
			wantErr(t, err, ErrConcluded)
			if kept != strings.Contains(err.Error(), "with 5 bytes") || !strings.Contains(err.Error(), "it was concluded done by "+string(id.Conclusion())) {
				t.Errorf("kept %t: %v", kept, err)
			}
		}
		wantFiles(t, m, "done")
		wantFiles(t, m, "work")
	}
}

// Of a notification that was let go, and of an id that nobody knows, there is
// nothing to conclude.
func TestConcludeLetGoOtherwise(t *testing.T) {
	s, m, _ := aTask(t, false)
	id := mustSend(t, s, Draft{From: "alice", To: "bob", Kind: Notification, Subject: "s"}, "body")
	if _, err := m.Seen(id); err != nil {
		t.Fatal(err)
	}
	letGo(t, m, id)
	for _, id := range []ID{id, newID(t, s)} {
		_, _, err := conclude(m, id, Done, "words")
		wantErr(t, err, ErrNoHandoff)
	}
}

// Where the asker was removed, and what went to the taker's bad/ was let go
// too, nobody knows any more to whom it was to go.
func TestConcludeLetGoRemovedAsker(t *testing.T) {
	s, m, id := aTask(t, true)
	if err := mailbox(t, s, "alice").Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conclude(m, id, Blocked, "words"); err != nil {
		t.Fatal(err)
	}
	letGo(t, m, id)
	r, moved, err := conclude(m, id, Blocked, "words")
	if err != nil || !moved || !r.Replayed || r.Outcome != Refused {
		t.Errorf("the same is %+v, moved %t, %v", r, moved, err)
	}
	if err := m.Fold([]Folded{{id.Conclusion(), [sameLen]byte{}, lastOf(Bad, Blocked)}}); err != nil {
		t.Fatal(err)
	}
	if err := m.empty(Bad); err != nil {
		t.Fatal(err)
	}
	if err := s.unregister(id.Conclusion()); err != nil {
		t.Fatal(err)
	}
	_, _, err = conclude(m, id, Blocked, "words")
	wantErr(t, err, ErrConcluded)
}

// What was concluded while it was handed out goes to done/, not to work/.
func TestTakenWhileConcluded(t *testing.T) {
	_, m, id := aTask(t, false)
	c, err := m.ClaimID(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	w, err := m.Conclude(id, Done, Draft{Type: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	w.ByHandler()
	if _, moved, err := w.Commit(t.Context()); err != nil || moved {
		t.Fatalf("moved %t, %v", moved, err)
	}
	if err := c.Taken("worker"); err != nil || c.Place() != Finished {
		t.Errorf("taken, it stands in %s/, %v", c.Place(), err)
	}
	wantFiles(t, m, "done", string(id))
}
