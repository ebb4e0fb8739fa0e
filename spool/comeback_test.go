package spool

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// An rsync that deletes nothing brings each finished handoff back at every
// run: that costs a segment a month, and not one a run.
func TestWhatComesBackIsFoldedOnceAMonth(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s.sys.Now = func() time.Time { return now }
	m := mailbox(t, s, "bob")
	id := mustSend(t, s, note(""), "body")
	bytes, err := os.ReadFile(m.file(New, id))
	if err != nil {
		t.Fatal(err)
	}
	takeAll(t, m)
	letGo(t, m, id)

	for run, want := range []int{1, 1, 2, 2} {
		if run == 2 {
			now = now.AddDate(0, 1, 0)
		}
		put(t, m.file(New, id), bytes)
		if bodies, notes := takeAll(t, m); len(bodies) > 0 || !strings.Contains(notes, "already handled") {
			t.Errorf("run %d: handed out %q, told %q", run, bodies, notes)
		}
		wantFiles(t, m, "new")
		if got := len(files(t, m, "past")); got != want {
			t.Errorf("after run %d there are %d segments, want %d", run, got, want)
		}
	}
}

// A task that was finished and let go comes back into work/, and is concluded
// there once more.
func TestConcludingWhatCameBack(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	d := note("")
	d.Kind = Task
	id := mustSend(t, s, d, "body")
	bytes, err := os.ReadFile(m.file(New, id))
	if err != nil {
		t.Fatal(err)
	}
	takeAll(t, m)
	concludes(t, m, id, Done)
	letGo(t, m, id)
	put(t, m.file(Work, id), bytes)

	w, err := m.Conclude(id, Done, Draft{Type: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := w.Write([]byte("it is done")); err != nil {
		t.Fatal(err)
	}
	r, moved, err := w.Commit(context.Background())
	if err != nil || !r.Replayed || !moved {
		t.Errorf("concluded again: %+v, moved %v, %v", r, moved, err)
	}
	wantFiles(t, m, "work")
	wantFiles(t, m, "done")
}

// A copy that is cut off cannot be compared with what was handled: it has its
// time, like anything that is not whole, and then goes.
func TestSurveyOfACutCopy(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	id := mustSend(t, s, note(""), "body")
	bytes, err := os.ReadFile(m.file(New, id))
	if err != nil {
		t.Fatal(err)
	}
	takeAll(t, m)
	put(t, m.file(New, id), bytes[:len(bytes)-1])

	if err := mayWork(m, false); err != nil {
		t.Fatal(err)
	}
	r, err := s.Reap(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var found []Leftover
	if err := r.Survey(context.Background(), time.Now(), func(l Leftover) error {
		if l.Place == New {
			found = append(found, l)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Kind != LeftNotWhole {
		t.Fatalf("found %+v, want one incomplete file", found)
	}
	if did, err := r.Settle(context.Background(), &found[0]); err != nil || !strings.Contains(did, "set aside") {
		t.Errorf("settled: %q, %v", did, err)
	}
	wantFiles(t, m, "new")
	wantFiles(t, m, "done", string(id))
}
