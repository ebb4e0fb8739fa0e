package spool

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// sentIDsOf is what Sent lists, without what it says of each.
func sentIDsOf(t *testing.T, s *Spool, f Filter, open bool, after ID, limit int) (ids []ID, more bool) {
	t.Helper()
	l, err := s.Sent(context.Background(), "alice", f, open, after, limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range l.Handoffs {
		ids = append(ids, h.ID)
	}
	return ids, l.More
}

func TestSentTellsWhatBecameOfEach(t *testing.T) {
	s := newSpool(t, "alice", "bob", "carol")
	bob := mailbox(t, s, "bob")
	done, open := asks(t, s), asks(t, s)
	noted := mustSend(t, s, note(""), "note")
	theirs := note("")
	theirs.From = "carol"
	mustSend(t, s, theirs, "not alice's")
	concludes(t, bob, done, Done)

	l, err := s.Sent(context.Background(), "alice", Filter{}, false, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, h := range l.Handoffs {
		ending := Ending("")
		if h.Conclusion != nil {
			ending = h.Conclusion.Ending
		}
		got += fmt.Sprintln(h.ID, h.Kind, h.Report.Outcome, ending)
	}
	want := fmt.Sprintln(done, Task, Delivered, Done) + fmt.Sprintln(open, Task, Queued, "") + fmt.Sprintln(noted, Notification, Queued, "")
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	wantOpen(t, s, open)

	// However the conclusion came: it may be let go by now, its task too.
	letGo(t, bob, done)
	takeAll(t, mailbox(t, s, "alice"))
	letGo(t, mailbox(t, s, "alice"), done.Conclusion())
	wantOpen(t, s, open)
	if ids, _ := sentIDsOf(t, s, Filter{To: "carol"}, false, "", 0); len(ids) > 0 {
		t.Errorf("to carol: %v", ids)
	}
}

func TestSentIsPaged(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	var all []ID
	for range 7 {
		all = append(all, asks(t, s))
	}
	var got []ID
	after, more, pages := ID(""), true, 0
	for ; more && pages < 10; pages++ {
		var page []ID
		page, more = sentIDsOf(t, s, Filter{}, true, after, 3)
		got = append(got, page...)
		after = page[len(page)-1]
	}
	if pages != 3 || fmt.Sprint(got) != fmt.Sprint(all) {
		t.Errorf("in %d pages %v, want %v", pages, got, all)
	}
	if _, more := sentIDsOf(t, s, Filter{}, true, "", 7); more {
		t.Error("a list that is whole says that it was cut short")
	}
}

// What is no handoff in the registry is passed over.
func TestSentPassesOverWhatIsNone(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	id := asks(t, s)
	for _, name := range []string{string(newID(t, s)), string(newID(t, s)) + ".tmp", "x"} {
		put(t, s.shardDir(id)+"/"+name, []byte("no header"))
	}
	put(t, s.idsDir()+"/202611.x.seg", nil)
	if err := os.Mkdir(s.idsDir()+"/key", privateDir); err != nil {
		t.Fatal(err)
	}
	for _, open := range []bool{true, false} {
		if ids, _ := sentIDsOf(t, s, Filter{}, open, "", 0); fmt.Sprint(ids) != fmt.Sprint([]ID{id}) {
			t.Errorf("open %t: %v", open, ids)
		}
	}
}
