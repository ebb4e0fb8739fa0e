package reap

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"xfer/spool"
)

const (
	noted    = "peers/bob/new/" + string(aNote)
	finished = "peers/bob/done/" + string(aTask)
	link     = "local/ids/9f/" + string(aNote)
	segment  = "peers/bob/past/testhost-3fa09c11.202611." + string(aTask) + ".seg"
)

var planted = (aTask[:25] + "z").Conclusion()

// plant sends bob a task, and alice what has the id of its conclusion.
func (w *world) plant() {
	w.send(spool.Draft{ID: aTask[:25] + "z", From: "alice", To: "bob", Kind: spool.Task})
	w.send(spool.Draft{ID: planted, From: "bob", To: "alice", Kind: spool.Notification})
}

// A fault is one way to break a spool.
type fault struct {
	name   string
	do     func(*world)
	want   string       // severity, check and path of a finding
	mends  bool         // a remedy is offered
	byHand func(*world) // does what a remedy says that is no command
}

var faults = []fault{
	{name: "a mode", do: func(w *world) { w.must(os.Chmod(w.at(noted), 0o644)) }, want: "warning layout " + noted, mends: true},
	{name: "the mode of a directory", do: func(w *world) { w.must(os.Chmod(w.at("peers/bob/new"), 0o755)) }, want: "warning layout peers/bob/new", mends: true},
	{name: "a symlink", do: func(w *world) { w.must(os.Symlink("/dev/null", w.at("peers/bob/new/"+string(aTask[:25])+"z"))) }, want: "warning layout peers/bob/new/" + string(aTask[:25]) + "z"},
	{name: "a stray", do: func(w *world) { w.write("peers/bob/new/.ds_store", "") }, want: "warning handoff peers/bob/new/.ds_store"},
	{name: "an old conflict copy", do: func(w *world) { w.copy(noted, noted+".sync-conflict-20261130-170000-ABCDEFG"); w.later = 40 * hour },
		want: "warning handoff " + noted + ".sync-conflict-20261130-170000-ABCDEFG", mends: true},
	{name: "cut, just now", do: func(w *world) { w.copy(noted, "../whole"); w.must(os.Truncate(w.at(noted), 200)) }, want: "warning handoff " + noted, mends: true,
		byHand: func(w *world) { w.copy("../whole", noted) }},
	{name: "cut, and old", do: func(w *world) { w.must(os.Truncate(w.at(noted), 200)); w.later = 40 * hour }, want: "warning handoff " + noted, mends: true},
	{name: "altered", do: func(w *world) { w.edit(noted, "\n\n"+marker, "\n\n"+strings.ToUpper(marker)); w.later = 40 * hour }, want: "warning handoff " + noted, mends: true},
	{name: "malformed", do: func(w *world) { w.write("peers/bob/new/"+string(aTask[:25])+"z", "From: x\n\n") }, want: "error handoff peers/bob/new/" + string(aTask[:25]) + "z", mends: true},
	{name: "misrouted", do: func(w *world) { w.rename(noted, "peers/alice/new/"+string(aNote)) }, want: "error handoff peers/alice/new/" + string(aNote), mends: true},
	{name: "back from done", do: func(w *world) { w.copy(finished, "peers/bob/new/"+string(aTask)) }, want: "warning double " + finished, mends: true},
	{name: "another under its id", do: func(w *world) {
		w.copy(finished, "peers/bob/new/"+string(aTask))
		w.edit("peers/bob/new/"+string(aTask), "From: alice", "From: carol")
	}, want: "error double " + finished, mends: true},
	{name: "set aside without a reason", do: func(w *world) { w.rename(noted, "peers/bob/bad/"+string(aNote)) }, want: "warning set-aside peers/bob/bad/" + string(aNote)},
	{name: "a policy that cannot be read", do: func(w *world) { w.write("peers/bob/peer.json", "{") }, want: "error handoff peers/bob/peer.json", mends: true},
	{name: "a link in another part", do: func(w *world) { w.rename(link, "local/ids/9e/"+string(aNote)) }, want: "warning registry local/ids/9e/" + string(aNote), mends: true},
	{name: "a broken entry", do: func(w *world) { w.remove(link); w.write(link, "no header\n\n") }, want: "error registry " + link, mends: true},
	{name: "an empty entry", do: func(w *world) { w.remove(link); w.write(link, "") }, want: "note registry " + link, mends: true},
	{name: "no entry", do: func(w *world) { w.remove(link) }, want: "note registry " + noted, mends: true},
	{name: "a torn segment", do: func(w *world) { w.write(segment, "cut") }, want: "warning segment " + segment, mends: true,
		byHand: func(w *world) { w.write(segment, strings.Repeat("\x00", 32)) }},
	{name: "an overdue task", do: func(w *world) {
		w.send(spool.Draft{ID: aTask[:25] + "z", From: "alice", To: "bob", Kind: spool.Task})
		w.take("bob")
		w.later = 25 * hour
	}, want: "warning overdue peers/bob/work/" + string(aTask[:25]) + "z", mends: true},
	{name: "a backlog", do: func(w *world) { w.later = 25 * hour }, want: "warning backlog peers/bob", mends: true},
	{name: "on hold", do: func(w *world) { w.write("peers/bob/peer.json", `{"hold":true}`); w.later = 25 * hour }, want: "warning hold peers/bob", mends: true},
	{name: "removed, and something came", do: func(w *world) { w.write("peers/bob/peer.json", `{"removed_at":"2026-11-30T06:33:33Z"}`) }, want: "note tombstone peers/bob", mends: true},
	{name: "a crashed receiver", do: func(w *world) {
		w.edit("peers/bob/live/testhost-3fa09c11.json", `"claim":1`, `"claim":1,"pid":1,"boot":"b","state":"idle","interval":60,"beat":"`+time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)+`"`)
	}, want: "warning receiver peers/bob", mends: true},
	{name: "no .stignore", do: func(w *world) { w.remove(".stignore") }, want: "warning sync .stignore", mends: true},
	{name: "a folder above", do: func(w *world) { w.must(os.Mkdir(w.dir+"/../.stfolder", 0o700)) }, want: "error sync .", mends: true,
		byHand: func(w *world) {
			w.must(os.WriteFile(w.dir+"/../.stignore", []byte("(?d)/spool/local\n(?d)/spool/peers/*/tmp\n"), 0o600))
		}},
	{name: "no conflicts kept", do: func(w *world) {
		w.must(os.MkdirAll(w.dir+"/../.config/syncthing", 0o700))
		w.must(os.WriteFile(w.dir+"/../.config/syncthing/config.xml", []byte(`<configuration><folder id="x" path="`+w.dir+`"><maxConflicts>0</maxConflicts></folder></configuration>`), 0o600))
	}, want: "error sync .", mends: true, byHand: func(w *world) { w.must(os.RemoveAll(w.dir + "/../.config")) }},
	{name: "a synced local/", do: func(w *world) { w.write("local/ids/.syncthing.x.tmp", "") }, want: "error sync local/ids", mends: true,
		byHand: func(w *world) { w.remove("local/ids/.syncthing.x.tmp") }},
	{name: "a synced tmp/", do: func(w *world) { w.write("peers/bob/tmp/."+string(aNote)+".Xa31bc", "") }, want: "error sync peers/bob/tmp", mends: true,
		byHand: func(w *world) { w.remove("peers/bob/tmp/." + string(aNote) + ".Xa31bc") }},
	{name: "a sync tool's temp file", do: func(w *world) { w.write("peers/bob/new/.syncthing.x.tmp", "") }, want: "note handoff peers/bob/new/.syncthing.x.tmp"},
	{name: "two homes", do: func(w *world) {
		w.edit("peers/bob/live/testhost-3fa09c11.json", `"claim":1`, `"claim":2`)
		w.write("peers/bob/live/other-00000002.json", `{"claim":1,"state":"idle","beat_at":"`+time.Now().UTC().Format(time.RFC3339)+`"}`)
	}, want: "warning home peers/bob", mends: true, byHand: func(w *world) {
		w.edit("peers/bob/live/other-00000002.json", "idle", "stopped")
	}},
	{name: "a broken card", do: func(w *world) { w.write("board/plan.md", "---\n<<<<<<<\nid: plan\n---\n") }, want: "error card board/plan.md"},
	{name: "a notification in work", do: func(w *world) { w.rename(noted, "peers/bob/work/"+string(aNote)) }, want: "error handoff peers/bob/work/" + string(aNote)},
	{name: "the id of a conclusion is taken", do: func(w *world) { w.plant() }, want: "warning conclusion peers/alice/new/" + string(planted), mends: true},
	{name: "the same, and only the registry has it", do: func(w *world) { w.plant(); w.remove("peers/alice/new/" + string(planted)) },
		want: "warning conclusion local/ids/" + string(planted[24:]) + "/" + string(planted), mends: true},
	{name: "a claim that is too long", do: func(w *world) { w.write("local/claims/bob", strings.Repeat("1", 1000)) }, want: "error claim local/claims/bob", mends: true},
	{name: "done under no conclusion", do: func(w *world) { w.remove("peers/alice/new/" + string(aTask.Conclusion())) }, want: "note conclusion " + finished},
}

func keys(all []Finding) []string {
	var keys []string
	for _, f := range all {
		keys = append(keys, string(f.Severity)+" "+f.Check+" "+f.Path)
	}
	return keys
}

func TestDoctorOfASoundSpool(t *testing.T) {
	if all := newWorld(t).doctor(true); len(all) > 0 {
		t.Errorf("%q", all)
	}
}

// Each fault is named, and where a remedy is offered that runs, it mends it.
func TestDoctorOfBrokenSpools(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			w := newWorld(t)
			f.do(w)
			all := w.doctor(true)
			i := slices.Index(keys(all), f.want)
			if i < 0 {
				t.Fatalf("no %q among %q", f.want, all)
			}
			remedy := all[i].Remedy
			switch {
			case f.mends != (remedy != ""):
				t.Fatalf("its remedy is %q", remedy)
			case !f.mends:
				return // a person has to look
			case f.byHand != nil:
				f.byHand(w)
			default:
				w.enter(remedy)
			}
			if after := keys(w.doctor(true)); slices.Contains(after, f.want) {
				t.Errorf("after %q: %q", remedy, after)
			}
		})
	}
}

// No finding holds a word of a subject, body or label, whatever is broken.
func TestDoctorTellsNothingPrivate(t *testing.T) {
	for _, f := range faults {
		w := newWorld(t)
		f.do(w)
		for _, deep := range []bool{false, true} {
			all := w.doctor(deep)
			b, err := json.Marshal(all)
			w.must(err)
			for _, text := range []string{string(b), fmt.Sprintf("%+v", all)} {
				if strings.Contains(strings.ToLower(text), "quince") {
					t.Errorf("%s: %s", f.name, text)
				}
			}
		}
	}
}

// A fault of the header's own words is told by its class.
func TestDoctorTellsNoFieldNames(t *testing.T) {
	w := newWorld(t)
	w.edit(noted, "MIME-Version", "Quince: 1\nQuince")
	for _, f := range w.doctor(true) {
		if strings.Contains(fmt.Sprintf("%+v", f), "Quince") {
			t.Error(f)
		}
	}
}

func TestDoctorOfFilesystems(t *testing.T) {
	for _, c := range []struct {
		st   unix.Statfs_t
		want []string
	}{
		{unix.Statfs_t{Blocks: 1000, Bavail: 50, Files: 1000, Ffree: 50}, nil},
		{unix.Statfs_t{}, nil}, // one that counts neither
		{unix.Statfs_t{Type: nfsMagic}, []string{"note filesystem ."}},
		{unix.Statfs_t{Blocks: 1000, Bavail: 49}, []string{"warning space ."}},
		{unix.Statfs_t{Files: 1000, Ffree: 49}, []string{"warning space ."}},
	} {
		var all []Finding
		d := &Doctor{Tell: func(f Finding) { all = append(all, f) }}
		if d.space(&c.st); !slices.Equal(keys(all), c.want) {
			t.Errorf("%+v: %q", c.st, all)
		}
	}
}
