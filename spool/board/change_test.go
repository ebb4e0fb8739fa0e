package board

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"xfer/spool"
)

// Somebody who takes no lock writes the card between the reading and the swap.
func TestSyncBetweenReadAndSwap(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	appended(t, b, "first")
	arriving := string(read(t, b).Format()) + entryText(id1, "from afar")
	times := 0
	b.beforeSwap = func(CardID) {
		if times++; times == 1 {
			replace(t, b.Path("plan"), arriving)
		}
	}
	appended(t, b, "mine")
	if times != 2 {
		t.Errorf("%d swaps, want a second one with what came out", times)
	}
	b.beforeSwap = nil
	wantSame(t, read(t, b), "first", "from afar", "mine")
	nothingLeft(t, b, "plan.md")
}

// wantSame wants these texts, in whatever order.
func wantSame(t *testing.T, c *Card, want ...string) {
	t.Helper()
	got := texts(c)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("entries %q, want %q", got, want)
	}
}

// What comes out of the swap and is no card is kept under a conflict copy's
// name, and named.
func TestBrokenBetweenReadAndSwap(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	b.beforeSwap = func(CardID) { replace(t, b.Path("plan"), "no card\n") }
	_, err := b.Append(background, "plan", note("mine"))
	b.beforeSwap = nil
	if os.Getenv(denyVariable) == "renameat2" { // it is seen before the rename
		wantErr(t, err, spool.ErrBrokenCard)
		if got := bytesOf(t, b.Path("plan")); got != "no card\n" {
			t.Errorf("it became %q", got)
		}
		return
	}
	must(t, err)
	wantSame(t, read(t, b), "mine")
	cards, faults, err := b.List(background)
	must(t, err)
	if len(cards) != 1 || len(faults) != 1 {
		t.Fatalf("%d cards, faults %v", len(cards), faults)
	}
	wantErr(t, faults[0], spool.ErrBrokenCard)
	copies, err := filepath.Glob(filepath.Join(b.h.Dir(), "plan.sync-conflict-*.md"))
	must(t, err)
	if len(copies) != 1 || bytesOf(t, copies[0]) != "no card\n" {
		t.Errorf("copies %q", copies)
	}
}

func TestRemovedBetweenReadAndSwap(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	appended(t, b, "first")
	b.beforeSwap = func(CardID) { _ = os.Remove(b.Path("plan")) }
	appended(t, b, "mine")
	b.beforeSwap = nil
	wantSame(t, read(t, b), "first", "mine")
	nothingLeft(t, b, "plan.md")
}

func TestCreatedByAnotherMeanwhile(t *testing.T) {
	b := newBoard(t)
	b.beforeSwap = func(CardID) {
		b.beforeSwap = nil
		put(t, b.Path("plan"), cardText(entryText(id1, "from afar")))
	}
	_, _, err := b.Create(background, "plan", "Mine", "bob", Draft{Type: "note", Author: "bob", Text: "mine"})
	must(t, err)
	wantSame(t, read(t, b), "from afar", "mine")
	nothingLeft(t, b, "plan.md")
}

func TestConflictCopies(t *testing.T) {
	for _, name := range []string{
		"plan.sync-conflict-20261130-170000-ABCDEFG.md",
		"plan.md.sync-conflict-rsync",
		"plan.sync-conflict-20261130-170000-ABCDEFG.sync-conflict-20261201-170000-HIJKLMN.md",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoard(t)
			put(t, b.Path("plan"), cardText(entryText(id1, "here")))
			put(t, b.h.File(name), cardText(entryText(id1, "here"), entryText(id2, "there")))
			wantTexts(t, read(t, b), "here", "there")
			nothingLeft(t, b, "plan.md")

			// a copy whose card is gone becomes the card
			put(t, b.h.File(name), bytesOf(t, b.Path("plan")))
			must(t, os.Remove(b.Path("plan")))
			wantTexts(t, read(t, b), "here", "there")
			nothingLeft(t, b, "plan.md")

			// an append merges it too
			put(t, b.h.File(name), cardText(entryText(id3, "more")))
			appended(t, b, "mine")
			wantSame(t, read(t, b), "here", "there", "more", "mine")
			nothingLeft(t, b, "plan.md")
		})
	}
}

func TestCopyThatIsBrokenStays(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	name := "plan.sync-conflict-20261130-170000-ABCDEFG.md"
	for _, text := range []string{"---\nid: plan\n<<<<<<< a\n---\n", strings.Replace(cardText(), "id: plan", "id: other", 1)} {
		put(t, b.h.File(name), text)
		read(t, b)
		_, faults, err := b.List(background)
		must(t, err)
		if len(faults) != 1 || bytesOf(t, b.h.File(name)) != text {
			t.Errorf("faults %v", faults)
		}
	}
}

// What a crash leaves: the version that was to be swapped in, which nobody was
// told of; the version that was read; or one that came in between.
func TestLeftovers(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	appended(t, b, "first")
	before := bytesOf(t, b.Path("plan"))
	staged := before + entryText(id1, "was to come")
	between := before + entryText(id2, "came in between")
	name := func(read, wrote string) string {
		return b.h.TempFile("card.plan." + digest([]byte(read)) + digest([]byte(wrote)) + "0011223344556677")
	}
	for what, c := range map[string]struct {
		text string
		want []string
	}{
		"never swapped in":   {staged, []string{"first"}},
		"swapped out":        {before, []string{"first"}},
		"came in between":    {between, []string{"first", "came in between"}},
		"of another program": {between, []string{"first", "came in between"}},
	} {
		replace(t, b.Path("plan"), before)
		path := name(before, staged)
		if what == "of another program" {
			path = b.h.TempFile("card.plan.abcdef")
		}
		put(t, path, c.text)
		must(t, b.Settle(background, "plan"))
		wantSame(t, read(t, b), c.want...)
		nothingLeft(t, b, "plan.md")
	}

	broken := name(before, staged)
	put(t, broken, "no card\n")
	must(t, b.Settle(background, "plan"))
	found, err := b.Survey()
	must(t, err)
	if len(found.Left) != 1 || found.Left[0].Path != broken {
		t.Errorf("left %+v", found.Left)
	}
	wantErr(t, found.Left[0].Err, spool.ErrBrokenCard)
}

func TestAppendRefuses(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	before := bytesOf(t, b.Path("plan"))
	for text, want := range map[string]error{
		"": spool.ErrNotText, " \n\n": spool.ErrNotText, "a\xff": spool.ErrNotText, "a\x00": spool.ErrNotText,
		strings.Repeat("x", MaxText+1): spool.ErrTooLarge,
	} {
		_, err := b.Append(background, "plan", note(text))
		wantErr(t, err, want)
	}
	_, err := b.Append(background, "other", note("x"))
	wantErr(t, err, spool.ErrNoCard)
	put(t, b.Path("broken"), "no card\n")
	_, err = b.Append(background, "broken", note("x"))
	wantErr(t, err, spool.ErrBrokenCard)
	if bytesOf(t, b.Path("plan")) != before || bytesOf(t, b.Path("broken")) != "no card\n" {
		t.Error("changed")
	}
}

func TestAppendByKey(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	d := note("text")
	d.Key = "run 7"
	first, err := b.Append(background, "plan", d)
	must(t, err)
	again, err := b.Append(background, "plan", d)
	must(t, err)
	if !again.Replayed || first.Replayed || again.Entry.ID != first.Entry.ID {
		t.Errorf("%+v after %+v", again, first)
	}
	other := d
	other.Text = "another"
	_, err = b.Append(background, "plan", other)
	wantErr(t, err, spool.ErrConflict)
	other.Author = "bob"
	if _, err = b.Append(background, "plan", other); err != nil {
		t.Error(err)
	}
	wantSame(t, read(t, b), "text", "another")

	remove(t, b, first.Entry.ID)
	again, err = b.Append(background, "plan", d)
	must(t, err)
	if !again.Replayed || !again.Removed || again.Entry.ID != first.Entry.ID {
		t.Errorf("%+v after the removal", again)
	}
	wantSame(t, read(t, b), "another")
}

// remove takes an entry out as an edit does.
func remove(t *testing.T, b *Board, id spool.ID) {
	t.Helper()
	e, err := b.Edit(background, "plan")
	must(t, err)
	c := parse(t, bytesOf(t, e.Path))
	c.Entries = append(c.Entries[:0:0], c.Entries...)
	for i := range c.Entries {
		if c.Entries[i].ID == id {
			c.Entries = append(c.Entries[:i], c.Entries[i+1:]...)
			break
		}
	}
	put(t, e.Path, string(c.Format()))
	_, err = e.Finish(background)
	must(t, err)
}

func TestCreateAndRemove(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	_, _, err := b.Create(background, "plan", "Another", "bob")
	wantErr(t, err, spool.ErrCardExists)
	appended(t, b, "first")
	old := bytesOf(t, b.Path("plan"))
	_, err = b.Remove(background, "plan")
	must(t, err)

	_, err = b.Read(background, "plan")
	wantErr(t, err, errRemoved)
	_, err = b.Append(background, "plan", note("x"))
	wantErr(t, err, errRemoved)
	_, err = b.Remove(background, "plan")
	wantErr(t, err, errRemoved)
	_, _, err = b.Create(background, "plan", "Another", "bob")
	wantErr(t, err, spool.ErrCardExists)

	// a late copy does not bring it back
	put(t, b.h.File("plan.sync-conflict-20261130-170000-ABCDEFG.md"), old)
	must(t, b.Settle(background, "plan"))
	_, err = b.Read(background, "plan")
	wantErr(t, err, errRemoved)
	nothingLeft(t, b, "plan.md")

	// but for an entry that nobody has removed
	put(t, b.h.File("plan.sync-conflict-20261130-170000-ABCDEFG.md"), old+entryText(id1, "late"))
	must(t, b.Settle(background, "plan"))
	wantTexts(t, read(t, b), "late")
}

// What does not depend on the exchange holds without it. The test runs itself
// in a process that lacks it: what is denied stays denied.
func TestWithoutExchange(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", "-test.run=Between|Meanwhile|Copies|Copy|Leftovers|^TestAppend|^TestCreate|^TestEdit", "-test.v")
	cmd.Env = append(os.Environ(), denyVariable+"=renameat2")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "\n--- PASS") < 10 {
		t.Errorf("%v\n%s", err, out)
	}
}
