package spool

import (
	"os"
	"strings"
	"testing"

	"xfer/internal/durable"
)

// wantFreed wants Unblock to make so many ids free.
func wantFreed(t *testing.T, s *Spool, want int) {
	t.Helper()
	if n, err := s.Unblock(t.Context()); n != want || err != nil {
		t.Errorf("%d freed, want %d; %v", n, want, err)
	}
}

// Wherever it stands, and whoever sent it, it is set aside under a name that
// says nothing about its id, and what is to come from here is not refused by
// the registry.
func TestUnblock(t *testing.T) {
	for _, place := range Places {
		t.Run(string(place), func(t *testing.T) {
			s, m, id := aTask(t, false)
			alice := mailbox(t, s, "alice")
			planted := mustSend(t, s, Draft{ID: id.Conclusion(), From: "carol", To: "alice", Kind: Notification, Subject: "s"}, "x")
			if place != New {
				must(t, os.Rename(alice.file(New, planted), alice.file(place, planted)))
			}
			wantFreed(t, s, 1)
			if found, err := alice.find(planted); len(found) > 0 || err != nil {
				t.Errorf("it stands at %v, %v", found, err)
			}
			if _, moved, err := conclude(m, id, Done, "result"); !moved || err != nil {
				t.Errorf("concluded: %t, %v", moved, err)
			}
		})
	}
}

func TestUnblockLeaves(t *testing.T) {
	for name, arrange := range map[string]func(s *Spool, alice *Mailbox, file string){
		"what another host works": func(s *Spool, alice *Mailbox, _ string) {
			must(t, os.MkdirAll(alice.liveDir(), 0o700))
			must(t, os.WriteFile(alice.liveFile("other-00000002"), []byte(`{"claim":9}`), 0o600))
		},
		"what somebody has": func(_ *Spool, _ *Mailbox, file string) {
			f, err := os.Open(file)
			must(t, err)
			t.Cleanup(func() { _ = f.Close() })
			if ok, err := durable.TryLock(f); !ok || err != nil {
				t.Fatal(ok, err)
			}
		},
		"what is not whole": func(_ *Spool, _ *Mailbox, file string) { must(t, os.Truncate(file, 300)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _, id := aTask(t, false)
			alice := mailbox(t, s, "alice")
			planted := mustSend(t, s, Draft{ID: id.Conclusion(), From: "carol", To: "alice", Kind: Notification, Subject: "s"}, strings.Repeat("x", 1000))
			arrange(s, alice, alice.file(New, planted))
			wantFreed(t, s, 0)
			if _, err := os.Lstat(alice.file(New, planted)); err != nil {
				t.Error(err)
			}
		})
	}
}
