package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	checkedTask = ID("01kb9w6t3v8f5s7q2m4x0c1d9e")
	checkedNote = ID("01kb9w6t3v8f5s7q2m4x0c1d9f")
	checkedBody = "a body that no finding may show"
)

// checkedSpool has a task of alice's, concluded by bob, and a notification to
// him.
func checkedSpool(t *testing.T) *Spool {
	t.Helper()
	sys := NewSystem().WithoutSync()
	sys.Host = func() (Host, error) { return "testhost-3fa09c11", nil }
	s, err := OpenOrCreate(filepath.Join(t.TempDir(), "spool"), sys)
	must(t, err)
	for _, n := range []Name{"alice", "bob"} {
		_, _, err := s.Create(context.Background(), n, "")
		must(t, err)
	}
	deliverTo(t, s, Draft{ID: checkedTask, From: "alice", To: "bob", Kind: Task})
	deliverTo(t, s, Draft{ID: checkedNote, From: "alice", To: "bob", Kind: Notification})
	bob, err := s.Mailbox("bob")
	must(t, err)
	w, err := bob.Conclude(checkedTask, Done, Draft{Type: "text/plain"})
	must(t, err)
	_, moved, err := w.Commit(context.Background())
	must(t, err)
	if !moved {
		t.Fatal("the task was not moved")
	}
	return s
}

func deliverTo(t *testing.T, s *Spool, d Draft) {
	t.Helper()
	d.Subject, d.Type = "a subject that no finding may show", "text/plain"
	w, err := s.NewDelivery(d)
	must(t, err)
	_, err = w.Write([]byte(checkedBody))
	must(t, err)
	_, err = w.Commit(context.Background())
	must(t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCheckOfASoundSpool(t *testing.T) {
	found, err := checkedSpool(t).Check(context.Background())
	if err != nil || len(found) > 0 {
		t.Errorf("got %v, %v", found, err)
	}
}

// Each damage is told, under its name, with its severity and nothing worse.
func TestCheckTellsDamage(t *testing.T) {
	const (
		note  = "peers/bob/new/" + string(checkedNote)
		task  = "peers/bob/done/" + string(checkedTask)
		link  = "local/ids/9f/" + string(checkedNote)
		other = "local/ids/9e/" + string(checkedNote)
	)
	conclusion := string(checkedTask.Conclusion())
	for _, c := range []struct {
		name   string
		damage func(tree)
		want   string // among the findings that are worst
	}{
		{"cut", func(d tree) { d.truncate(note, 100) }, "warning handoff " + note},
		{"altered", func(d tree) { d.edit(note, "no finding", "any reader") }, "warning handoff " + note},
		{"longer than it says", func(d tree) { d.edit(note, "no finding", "no finding at all") }, "error handoff " + note},
		{"under another id", func(d tree) { d.rename(note, "peers/bob/new/"+strings.Replace(string(checkedNote), "d9f", "d9g", 1)) }, "error handoff peers/bob/new/01kb9w6t3v8f5s7q2m4x0c1d9g"},
		{"in another's mailbox", func(d tree) { d.rename(note, "peers/alice/new/"+string(checkedNote)) }, "error handoff peers/alice/new/" + string(checkedNote)},
		{"a notification in work", func(d tree) { d.rename(note, "peers/bob/work/"+string(checkedNote)) }, "error handoff peers/bob/work/" + string(checkedNote)},
		{"a stray", func(d tree) { d.write("peers/bob/new/.ds_store", "") }, "warning handoff peers/bob/new/.ds_store"},
		{"a policy that cannot be read", func(d tree) { d.write("peers/bob/peer.json", "{") }, "error handoff peers/bob/peer.json"},
		{"in two places", func(d tree) { d.copy(note, "peers/bob/done/"+string(checkedNote)) }, "warning double peers/bob/done/" + string(checkedNote)},
		{"one file in two places", func(d tree) { d.link(note, "peers/bob/done/"+string(checkedNote)) }, "note double peers/bob/done/" + string(checkedNote)},
		{"another handoff under its id", func(d tree) {
			d.copy(note, "peers/bob/bad/"+string(checkedNote))
			d.write("peers/bob/bad/"+string(checkedNote)+".reason", "a test\n")
			d.edit("peers/bob/bad/"+string(checkedNote), "Xfer-Kind: notification", "Xfer-Kind: task")
		}, "error double peers/bob/bad/" + string(checkedNote)},
		{"a conclusion of no task", func(d tree) { d.edit("peers/alice/new/"+conclusion, string(checkedTask), string(checkedNote)) }, "error conclusion peers/alice/new/" + conclusion},
		{"a conclusion by another", func(d tree) { d.edit("peers/alice/new/"+conclusion, "From: bob", "From: eve") }, "warning conclusion peers/alice/new/" + conclusion},
		{"concluded and in work", func(d tree) { d.rename(task, "peers/bob/work/"+string(checkedTask)) }, "note conclusion peers/bob/work/" + string(checkedTask)},
		{"done and not concluded", func(d tree) { d.remove("peers/alice/new/" + conclusion) }, "note conclusion " + task},
		{"set aside without a reason", func(d tree) { d.rename(note, "peers/bob/bad/"+string(checkedNote)) }, "warning set-aside peers/bob/bad/" + string(checkedNote)},
		{"a reason alone", func(d tree) { d.write("peers/bob/bad/"+string(checkedNote)+".reason", "a test\n") }, "note set-aside peers/bob/bad/" + string(checkedNote) + ".reason"},
		{"an orphan", func(d tree) { d.rename(note, "peers/bob/tmp/"+string(checkedNote)+".0") }, "note registry " + link},
		{"a link alone", func(d tree) { d.remove(note) }, "note registry " + link},
		{"an empty entry", func(d tree) { d.remove(link); d.write(link, "") }, "note registry " + link},
		{"an entry that is no handoff", func(d tree) { d.remove(link); d.write(link, "x\n\n") }, "error registry " + link},
		{"an entry in another part", func(d tree) { d.rename(link, other) }, "warning registry " + other},
		{"an entry of another handoff", func(d tree) {
			d.copy(note, link+".new")
			d.rename(link+".new", link)
			d.edit(link, "From: alice", "From: carol")
		}, "error registry " + link},
		{"a restored copy", func(d tree) { d.copy(note, note+".new"); d.rename(note+".new", note) }, "note registry " + link},
		{"no entry", func(d tree) { d.remove(link) }, "note registry " + note},
		{"a temp file", func(d tree) { d.write("peers/bob/tmp/"+string(checkedNote)+".0", "half") }, "note temp peers/bob/tmp"},
		{"a file for all", func(d tree) { d.chmod(note, 0o644) }, "warning layout " + note},
		{"a directory for all", func(d tree) { d.chmod("peers/bob/new", 0o755) }, "warning layout peers/bob/new"},
		{"a link to elsewhere", func(d tree) { d.symlink("/dev/null", "local/tmp/x") }, "warning layout local/tmp/x"},
		{"a foreign name", func(d tree) { d.write("board/Über", "") }, "warning layout board/Über"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := checkedSpool(t)
			c.damage(tree{t, s.dir})
			found, err := s.Check(context.Background())
			must(t, err)
			if !slices.Contains(worst(found), c.want) {
				t.Errorf("want %q among the worst of %v", c.want, found)
			}
			for _, f := range found {
				if strings.Contains(f.Message.String(), "may show") {
					t.Errorf("shows what is private: %v", f)
				}
			}
		})
	}
}

// worst is the findings that are worst, but for their messages.
func worst(found []Finding) []string {
	for _, severity := range []Severity{Fault, Warning, Note} {
		var all []string
		for _, f := range found {
			if f.Severity == severity {
				all = append(all, fmt.Sprintf("%s %s %s", f.Severity, f.Check, f.Path))
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// Nothing is said of bytes that were not read, nor that what was found broken is
// not there.
func TestCheckOfAnAlteredBody(t *testing.T) {
	s := checkedSpool(t)
	d := tree{t, s.dir}
	note := "peers/bob/new/" + string(checkedNote)
	d.copy(note, note+".new")
	d.edit(note+".new", "no finding", "any reader")
	d.rename(note+".new", note)
	link := "local/ids/9f/" + string(checkedNote)
	for _, c := range []struct {
		check func(context.Context) ([]Finding, error)
		want  []string
	}{
		{s.CheckQuick, []string{"note registry " + link + ": it is another file than " + note + ", with the same header; --deep reads the body too"}},
		{s.Check, []string{"warning handoff " + note + ": incomplete: shorter than it says, or its bytes are not those of its digest"}},
	} {
		found, err := c.check(context.Background())
		must(t, err)
		var got []string
		for _, f := range found {
			got = append(got, f.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestCheckFindsACutHandoffWithAnInfoSuffix(t *testing.T) {
	s := checkedSpool(t)
	d := tree{t, s.dir}
	seen := "peers/bob/cur/" + string(checkedNote) + ":2,S"
	d.rename("peers/bob/new/"+string(checkedNote), seen)
	found, err := s.Check(context.Background())
	if err != nil || len(found) > 0 {
		t.Errorf("what a mail reader marked: got %v, %v", found, err)
	}
	d.truncate(seen, 100)
	found, err = s.Check(context.Background())
	if must(t, err); !slices.Contains(worst(found), "warning handoff "+seen) {
		t.Errorf("got %v", found)
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := checkedSpool(t).Check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A tree is a spool to be damaged; paths are below it.
type tree struct {
	t   *testing.T
	dir string
}

func (d tree) at(path string) string { return filepath.Join(d.dir, filepath.FromSlash(path)) }

func (d tree) write(path, data string) { must(d.t, os.WriteFile(d.at(path), []byte(data), 0o600)) }
func (d tree) rename(from, to string)  { must(d.t, os.Rename(d.at(from), d.at(to))) }
func (d tree) link(from, to string)    { must(d.t, os.Link(d.at(from), d.at(to))) }
func (d tree) symlink(from, to string) { must(d.t, os.Symlink(from, d.at(to))) }
func (d tree) remove(path string)      { must(d.t, os.Remove(d.at(path))) }

func (d tree) truncate(path string, size int64)    { must(d.t, os.Truncate(d.at(path), size)) }
func (d tree) chmod(path string, mode fs.FileMode) { must(d.t, os.Chmod(d.at(path), mode)) }

func (d tree) read(path string) []byte {
	b, err := os.ReadFile(d.at(path))
	must(d.t, err)
	return b
}

func (d tree) copy(from, to string) { d.write(to, string(d.read(from))) }

// edit changes every place that has old, and leaves the inode.
func (d tree) edit(path, old, now string) {
	b := d.read(path)
	changed := bytes.ReplaceAll(b, []byte(old), []byte(now))
	if slices.Equal(b, changed) {
		d.t.Fatalf("%s holds no %q", path, old)
	}
	must(d.t, os.WriteFile(d.at(path), changed, 0o600))
}
