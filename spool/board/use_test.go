package board

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"xfer/spool"
)

// edited runs an editor on a copy of the card, and two appends meanwhile.
func edited(t *testing.T, program string, args ...string) {
	b := newBoard(t)
	made(t, b)
	appended(t, b, "first")
	e, err := b.Edit(background, "plan")
	must(t, err)
	script := args[len(args)-1]
	cmd := exec.Command(program, append(args[:len(args)-1], e.Path)...)
	cmd.Stdin = strings.NewReader(script)
	appended(t, b, "second")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	appended(t, b, "third")
	out, err := e.Finish(background)
	must(t, err)
	if !out.Changed || out.Kept || len(out.Notes) > 0 {
		t.Errorf("%+v", out)
	}
	wantTexts(t, read(t, b), "FIRST", "second", "third")
	nothingLeft(t, b, "plan.md")
}

func TestEditedWithEd(t *testing.T) { edited(t, "ed", "-s", "/^first/s//FIRST/\nw\nq\n") }

func TestEditedWithVim(t *testing.T) {
	edited(t, "vim", "-e", "-s", "-n", "-u", "NONE", "%s/^first/FIRST/\nwq\n")
}

func TestEditKeepsWhatItCannotMerge(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *Board, *Editing) error{
		"broken": func(t *testing.T, b *Board, e *Editing) error {
			put(t, e.Path, "no card\n")
			return spool.ErrBrokenCard
		},
		"another id": func(t *testing.T, b *Board, e *Editing) error {
			put(t, e.Path, strings.Replace(bytesOf(t, e.Path), "id: plan", "id: other", 1))
			return spool.ErrBrokenCard
		},
		"removed meanwhile": func(t *testing.T, b *Board, e *Editing) error {
			put(t, e.Path, bytesOf(t, e.Path)+"more\n")
			_, err := b.Remove(background, "plan")
			must(t, err)
			return errRemoved
		},
		"title changed meanwhile": func(t *testing.T, b *Board, e *Editing) error {
			put(t, e.Path, strings.Replace(bytesOf(t, e.Path), "The plan", "My plan", 1))
			replace(t, b.Path("plan"), strings.Replace(bytesOf(t, b.Path("plan")), "The plan", "Their plan", 1))
			return spool.ErrNotMerged
		},
		"its entry removed meanwhile": func(t *testing.T, b *Board, e *Editing) error {
			put(t, e.Path, strings.Replace(bytesOf(t, e.Path), "first", "FIRST", 1))
			remove(t, b, read(t, b).Entries[0].ID)
			return spool.ErrNotMerged
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoard(t)
			made(t, b)
			appended(t, b, "first")
			e, err := b.Edit(background, "plan")
			must(t, err)
			want := change(t, b, e)
			mine := bytesOf(t, e.Path)
			out, err := e.Finish(background)
			wantErr(t, err, want)
			if !out.Kept || bytesOf(t, e.Path) != mine {
				t.Errorf("%+v", out)
			}
			if s, err := b.Survey(); err != nil || len(s.Edits) != 1 || s.Edits[0].Path != e.Path || s.Edits[0].Card != "plan" {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

func TestEditOfNothing(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	before, err := os.Stat(b.Path("plan"))
	must(t, err)
	e, err := b.Edit(background, "plan")
	must(t, err)
	out, err := e.Finish(background)
	must(t, err)
	after, err := os.Stat(b.Path("plan"))
	must(t, err)
	if out.Changed || !os.SameFile(before, after) {
		t.Errorf("%+v", out)
	}
	nothingLeft(t, b, "plan.md")
}

func TestCursorIsASet(t *testing.T) {
	b := newBoard(t)
	put(t, b.Path("plan"), cardText(entryText(id1, "one"), entryText(id3, "three")))
	unread := func(reader spool.Name) (all []spool.ID) {
		k, err := b.Cursor(reader)
		must(t, err)
		for _, e := range k.Unread(read(t, b), reader) {
			all = append(all, e.ID)
		}
		return all
	}
	want := func(reader spool.Name, want ...spool.ID) {
		t.Helper()
		if got := unread(reader); !slices.Equal(got, want) {
			t.Errorf("unread of %s: %q, want %q", reader, got, want)
		}
	}
	want("bob", id1, id3)
	want("alice") // who wrote them
	must(t, b.MarkSeen(background, "bob", read(t, b), []spool.ID{id1, id3}))
	want("bob")
	want("carol", id1, id3)

	// one with a lesser id that comes later
	put(t, b.h.File("plan.sync-conflict-20261130-170000-ABCDEFG.md"), cardText(entryText(id2, "two")))
	want("bob", id2)

	// what another host's bob has seen
	put(t, b.h.SeenFile("bob.sync-conflict-20261130-170000-ABCDEFG.json"), `{"cards":{"plan":["`+string(id2)+`"]}}`)
	want("bob")
	must(t, b.MarkSeen(background, "bob", read(t, b), nil))
	want("bob")
	if names, err := dirNames(b.h.SeenDir()); err != nil || !slices.Equal(names, []string{"bob.json"}) {
		t.Errorf("%q, %v", names, err)
	}

	put(t, b.h.SeenFile("bob.json"), "no cursor")
	want("bob", id1, id2, id3)
}

func TestWatch(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	appended(t, b, "first")
	w, err := b.Watch(background, "")
	must(t, err)
	defer w.Close()
	ctx, cancel := context.WithTimeout(background, 20*time.Second)
	defer cancel()
	next := func(want ...string) {
		t.Helper()
		var got []string
		for len(got) < len(want) {
			arrived, err := w.Next(ctx, 10*time.Second)
			must(t, err)
			for _, a := range arrived {
				for _, e := range a.Entries {
					got = append(got, string(a.Card.ID)+" "+e.Text())
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	appended(t, b, "second")
	next("plan second")
	replace(t, b.Path("plan"), bytesOf(t, b.Path("plan"))+entryText(id1, "replaced"))
	next("plan replaced")
	put(t, b.h.File("plan.sync-conflict-20261130-170000-ABCDEFG.md"), cardText(entryText(id2, "merged")))
	next("plan merged")
	put(t, b.Path("plan"), bytesOf(t, b.Path("plan"))+entryText(id3, "in place"))
	next("plan in place")
	_, _, err = b.Create(background, "new", "New", "bob", Draft{Type: "note", Author: "bob", Text: "other card"})
	must(t, err)
	next("new other card")
}

func TestBlocks(t *testing.T) {
	const reply = "Sure!\n\n```board-entry\ntype: decision\ncard: plan\ntitle: The plan\n\nWe do it.\n\nkey: value\n```\n" +
		"and\n~~~~ board-entry x\nsecond\n```\ninner\n```\n~~~\n~~~~\n" +
		"````markdown\n```board-entry\nan example\n```\n````\n  ```board-entry\n  indented\n    more\n  ```\n"
	got, err := Blocks(reply)
	must(t, err)
	want := []Block{
		{"decision", "plan", "The plan", "We do it.\n\nkey: value"},
		{Text: "second\n```\ninner\n```\n~~~"},
		{Text: "indented\n  more"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, text := range []string{"", "no block", "```go\nx\n```\n", "```board-entry\ncut", "```board-entry\ntype: note\n```\n", "````md\n```board-entry\nx\n```\n"} {
		_, err := Blocks(text)
		wantErr(t, err, spool.ErrNoBlock)
	}
	_, err = Blocks("```board-entry\ncard: ../x\nx\n```\n")
	wantErr(t, err, spool.ErrName)
}

func TestSurveyAndExpire(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	put(t, b.Path("broken"), "no card\n")
	put(t, b.h.File("plan.sync-conflict-20261130-170000-ABCDEFG.md"), cardText())
	put(t, b.h.File("Notes (copy).md"), "x")
	_, _, err := b.Create(background, "old", "Old", "alice")
	must(t, err)
	_, err = b.Remove(background, "old")
	must(t, err)
	s, err := b.Survey()
	must(t, err)
	if !slices.Equal(s.Cards, []CardID{"plan"}) || len(s.Broken) != 1 || len(s.Copies) != 1 || len(s.Removed) != 1 || len(s.Strays) != 1 {
		t.Errorf("%+v", s)
	}
	for _, c := range []struct {
		id     CardID
		before time.Duration
		want   bool
	}{{"plan", time.Hour, false}, {"old", -time.Hour, false}, {"old", time.Hour, true}, {"old", time.Hour, false}} {
		removed, err := b.Expire(background, c.id, time.Now().Add(c.before))
		if removed != c.want || err != nil {
			t.Errorf("%s, from before %v: %t, %v", c.id, c.before, removed, err)
		}
	}
}
