package spool

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
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
