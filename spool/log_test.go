package spool

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// logged are the lines of the event log.
func logged(t *testing.T, s *Spool) []string {
	t.Helper()
	b, err := os.ReadFile(s.logFile())
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func TestLogHoldsNeitherSubjectNorBody(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	bob := mailbox(t, s, "bob")
	task := note("")
	task.Kind, task.Subject, task.Labels, task.Cwd = Task, "the secret subject", []Label{"secret"}, "/the/secret/place"
	id := mustSend(t, s, task, "the secret body")
	change(t, bob, func(p *Peer) { p.Description = "the secret description" })
	r := receive(t, bob)
	concludes(t, bob, id, Done)
	other := task
	other.ID = id
	_, err := send(s, other, "the secret other body")
	wantErr(t, err, ErrConflict)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	events := map[string]bool{}
	for _, line := range logged(t, s) {
		if strings.Contains(line, "secret") {
			t.Errorf("the log has %s", line)
		}
		var e struct{ Event string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		events[e.Event] = true
	}
	for _, want := range []string{"sent", "claimed", "receiver started", "receiver stopped", "moved"} {
		if !events[want] {
			t.Errorf("no event %q among %v", want, events)
		}
	}
}

func TestLogClips(t *testing.T) {
	s := newSpool(t)
	s.log(event{Event: "x", Detail: strings.Repeat("ä", maxDetail) + "\x1b[2J\n"})
	line := logged(t, s)[0]
	var e event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatal(err)
	}
	if len(e.Detail) > maxDetail || strings.ContainsAny(line, "\x1b\n") {
		t.Errorf("the detail has %d bytes: %q", len(e.Detail), line)
	}
}

// Lines of many writers do not mix.
func TestLogOfManyWriters(t *testing.T) {
	s := newSpool(t)
	const writers, each = 20, 50
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				s.log(event{Event: fmt.Sprintf("%d/%d", w, i), Detail: strings.Repeat("x", w*10)})
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, line := range logged(t, s) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		seen[e.Event] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d of %d lines", len(seen), writers*each)
	}
}

// What is written is what json.Marshal writes.
func TestLogEncodes(t *testing.T) {
	texts := []string{"", "bob", "a \"word\"\n", "ä\x80", "<&>", "\u2028"}
	for i := range 500 {
		text := func(n int) string { return texts[(i/n+n)%len(texts)] }
		e := event{At: time.Unix(int64(i), int64(i)*1000).UTC(), Event: text(1), PID: i, Peer: Name(text(2)), ID: ID(text(3)), Kind: Kind(text(4)), Ending: Ending(text(5)),
			From: Name(text(6)), Bytes: int64(i % 3), Place: Place(text(7)), Outcome: Outcome(text(8)), Claim: uint64(i % 2), Detail: text(9)}
		want, err := json.Marshal(e)
		if got := e.encode(); err != nil || string(got) != string(want) {
			t.Fatalf("%s, want %s (%v)", got, want, err)
		}
	}
}
