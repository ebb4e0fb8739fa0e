package spool

import (
	"context"
	"io"
	"net/mail"
	"os"
	"testing"
)

// TestNetMail reads what is sent as any reader of RFC 5322 would, also under
// the name that a mail reader gives it.
func TestNetMail(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	draft := note("")
	draft.Kind, draft.Subject = Task, "Größe der Änderung"
	task := mustSend(t, s, draft, "a body\nof two lines\n")
	bob := mailbox(t, s, "bob")
	w, err := bob.Conclude(task, Done, Draft{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := io.WriteString(w, "an answer"); err != nil {
		t.Fatal(err)
	}
	if _, moved, err := w.Commit(context.Background()); err != nil || !moved {
		t.Fatalf("moved %v: %v", moved, err)
	}
	alice := mailbox(t, s, "alice")
	seen := alice.file(Cur, task.Conclusion()) + ":2,S"
	if err := os.Rename(alice.file(New, task.Conclusion()), seen); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, from, to, subject, parent, body string }{
		{bob.file(Finished, task), "alice@" + string(here), "bob@xfer", "Größe der Änderung", "", "a body\nof two lines\n"},
		{seen, "bob@" + string(here), "alice@xfer", "Re: Größe der Änderung", "<" + string(task) + "@xfer>", "an answer"},
	} {
		checkMail(t, c.path, map[string]string{"From": c.from, "To": c.to}, map[string]string{"Subject": c.subject, "In-Reply-To": c.parent}, c.body)
	}
}

func checkMail(t *testing.T, path string, addresses, fields map[string]string, body string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	m, err := mail.ReadMessage(f)
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range addresses {
		list, err := m.Header.AddressList(field)
		if err != nil || len(list) != 1 || list[0].Address != want {
			t.Errorf("%s is %v (%v), want %s", field, list, err, want)
		}
	}
	for field, want := range fields {
		if got := m.Header.Get(field); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	if _, err := m.Header.Date(); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(m.Body); err != nil || string(got) != body {
		t.Errorf("the body is %q (%v), want %q", got, err, body)
	}
}
