package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
)

// asks sends bob a task of alice's.
func asks(t *testing.T, s *Spool) ID {
	t.Helper()
	d := note("")
	d.Kind = Task
	return mustSend(t, s, d, "body")
}

// found is the conclusion of a task as its asker's waiter gets it.
func found(t *testing.T, s *Spool, task ID) (*Awaited, error) {
	t.Helper()
	a, again, err := mailbox(t, s, "alice").Conclusion(task, "bob")
	if again {
		t.Errorf("the conclusion of %s is in somebody's hands", task)
	}
	return a, err
}

func TestAwaitedConclusionIsHandedOutTwice(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	alice := mailbox(t, s, "alice")
	task := asks(t, s)
	if a, err := found(t, s, task); a != nil || err != nil {
		t.Fatalf("before: %v, %v", a, err)
	}
	concludes(t, mailbox(t, s, "bob"), task, NeedsInput)
	for range 2 {
		a, err := found(t, s, task)
		if err != nil || a == nil || a.Ending != NeedsInput {
			t.Fatalf("%v, %v", a, err)
		}
		if err := a.Finish(); err != nil {
			t.Error(err)
		}
		a.Close()
		wantFiles(t, alice, "done", string(task.Conclusion()))
	}
	// One that gc let go is no reason to wait for ever.
	letGo(t, alice, task.Conclusion())
	_, err := found(t, s, task)
	wantErr(t, err, ErrNoHandoff)
	if h, err := s.ConclusionOf(&Header{ID: task, From: "alice", To: "bob"}); err != nil || h == nil || h.Ending != NeedsInput {
		t.Errorf("as a segment remembers it: %v, %v", h, err)
	}
}

func TestAwaitedTaskThatWasRefused(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	bob := mailbox(t, s, "bob")
	task := asks(t, s)
	if err := mayWork(bob, false); err != nil {
		t.Fatal(err)
	}
	c, err := bob.ClaimID(context.Background(), task)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.DeadLetter("no time"); err != nil {
		t.Fatal(err)
	}
	c.Release()
	for _, reason := range []string{"no time", "forgotten"} {
		_, err := found(t, s, task)
		wantErr(t, err, ErrRefused)
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, want the reason %q", err, reason)
		}
		wantOpen(t, s)
		if reason == "no time" {
			if err := bob.empty(Bad); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func wantOpen(t *testing.T, s *Spool, want ...ID) {
	t.Helper()
	got, err := s.OpenTasks(context.Background(), "alice")
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("open are %v, %v; want %v", got, err, want)
	}
}

// Away from home a waiter reads, and moves nothing.
func TestAwaitAwayFromHome(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	alice := mailbox(t, s, "alice")
	task := asks(t, s)
	concludes(t, mailbox(t, s, "bob"), task, Done)
	claimed(t, alice, there, 9, "idle")
	a, err := found(t, s, task)
	if err != nil || a == nil {
		t.Fatalf("%v, %v", a, err)
	}
	if err := a.Finish(); err != nil {
		t.Error(err)
	}
	a.Close()
	wantFiles(t, alice, "new", string(task.Conclusion()))
}

func TestAwaitWhatIsNoConclusion(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	task := asks(t, s)
	id := task.Conclusion()
	put(t, mailbox(t, s, "alice").file(New, id), onDisk(id, func(h *Header) { h.From, h.To = "bob", "alice" }, "I am none"))
	_, err := found(t, s, task)
	wantErr(t, err, ErrConflict)
}

func TestWaitersHideTheConclusion(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	alice := mailbox(t, s, "alice")
	task := asks(t, s)
	var stops []func()
	for range 3 {
		stop, err := s.Awaiting(context.Background(), task)
		if err != nil {
			t.Fatal(err)
		}
		stops = append(stops, stop)
	}
	concludes(t, mailbox(t, s, "bob"), task, Done)
	for i, stop := range stops {
		if bodies, _ := takeAll(t, alice); len(bodies) > 0 {
			t.Errorf("taken past %d waiters: %v", len(stops)-i, bodies)
		}
		_, err := alice.ClaimID(context.Background(), task.Conclusion())
		wantErr(t, err, ErrLocked)
		stop()
	}
	if _, err := os.Lstat(s.awaitFile(task)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the last waiter left its file: %v", err)
	}
	if bodies, _ := takeAll(t, alice); len(bodies) != 1 {
		t.Errorf("took %v", bodies)
	}
}

// The last waiter removes the file that the next one may be locking: whoever
// waits is seen to wait, however they come and go.
func TestWaitersComeAndGo(t *testing.T) {
	s := newSpool(t)
	task := newID(t, s)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				stop, err := s.Awaiting(context.Background(), task)
				if err != nil {
					t.Error(err)
					return
				}
				if !s.awaited(task) {
					t.Error("waits, and is not seen to wait")
				}
				stop()
			}
		})
	}
	wg.Wait()
}
