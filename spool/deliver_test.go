package spool

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestDeliver(t *testing.T) {
	s := newSpool(t, "bob")
	r, err := send(s, note(""), "body")
	if err != nil || r.Outcome != Queued || r.Replayed {
		t.Fatalf("%+v, %v", r, err)
	}
	m := mailbox(t, s, "bob")
	wantFiles(t, m, "new", string(r.ID))
	wantFiles(t, m, "tmp")
	bodies, _ := takeAll(t, m)
	if bodies[r.ID] != "body" {
		t.Errorf("taken: %q", bodies)
	}
	wantFiles(t, m, "done", string(r.ID))
}

func TestReplay(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	d := note(newID(t, s))
	mustSend(t, s, d, "body")
	d.Subject, d.Labels, d.Cwd = "another", []Label{"l"}, "/elsewhere"
	for _, want := range []Outcome{Queued, Delivered} {
		r, err := send(s, d, "body")
		if err != nil || !r.Replayed || r.Outcome != want {
			t.Errorf("%+v, %v, want %s", r, err, want)
		}
		wantFiles(t, m, "tmp")
		takeAll(t, m)
	}
	wantFiles(t, m, "new")
	wantFiles(t, m, "done", string(d.ID))
}

func TestConflict(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Draft)
		body   string
	}{
		"other bytes":   {func(*Draft) {}, "bodY"},
		"fewer bytes":   {func(*Draft) {}, "bod"},
		"another kind":  {func(d *Draft) { d.Kind = Task }, "body"},
		"other sender":  {func(d *Draft) { d.From = "carol" }, "body"},
		"other mailbox": {func(d *Draft) { d.To = "carol" }, "body"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpool(t, "bob", "carol")
			d := note(newID(t, s))
			mustSend(t, s, d, "body")
			second := d
			c.change(&second)
			r, err := send(s, second, c.body)
			wantErr(t, err, ErrConflict)
			if r.Outcome != NotDelivered || err != nil && !strings.Contains(err.Error(), "4 bytes") {
				t.Errorf("%+v, %v", r, err)
			}
			for _, n := range []Name{"bob", "carol"} {
				wantFiles(t, mailbox(t, s, n), "tmp")
			}
			wantFiles(t, mailbox(t, s, "carol"), "new")
			if bodies, _ := takeAll(t, mailbox(t, s, "bob")); bodies[d.ID] != "body" {
				t.Errorf("the first is now %q", bodies)
			}
		})
	}
}

// crash does what Commit does until just before the publish, and leaves it.
func crash(t *testing.T, s *Spool, d Draft, body string) {
	t.Helper()
	w, err := s.NewDelivery(d)
	if err == nil {
		_, err = io.WriteString(w, body)
	}
	if err == nil {
		err = w.seal()
	}
	if err == nil {
		err = s.register(&w.h, w.tmp)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = w.f.Close()
}

func TestReplayCompletesWhatWasNotPublished(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	d := note(newID(t, s))
	crash(t, s, d, "body")
	_, err := send(s, d, "other")
	wantErr(t, err, ErrConflict)
	wantFiles(t, m, "new")
	if n := len(files(t, m, "tmp")); n != 1 {
		t.Fatalf("%d files in tmp/, want the orphan", n)
	}
	for range 2 {
		r, err := send(s, d, "body")
		if err != nil || !r.Replayed || r.Outcome != Queued {
			t.Fatalf("%+v, %v", r, err)
		}
		wantFiles(t, m, "tmp")
		wantFiles(t, m, "new", string(d.ID))
	}
}

func TestTempFileOfACrashIsNoObstacle(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	d := note(newID(t, s))
	left := string(d.ID) + ".0123456789abcdef"
	put(t, filepath.Join(m.tmpDir(), left), onDisk(d.ID, nil, "body")[:100])
	r, err := send(s, d, "body")
	if err != nil || r.Replayed || r.Outcome != Queued {
		t.Errorf("%+v, %v", r, err)
	}
	wantFiles(t, m, "tmp", left)
	wantFiles(t, m, "new", string(d.ID))
}

func TestEmptyRegistryEntryIsAbsent(t *testing.T) {
	s := newSpool(t, "bob")
	d := note(newID(t, s))
	if err := os.MkdirAll(s.shardDir(d.ID), privateDir); err != nil {
		t.Fatal(err)
	}
	put(t, s.idFile(d.ID), nil)
	r, err := send(s, d, "body")
	if err != nil || r.Replayed || r.Outcome != Queued {
		t.Errorf("%+v, %v", r, err)
	}
	if first, err := s.lookup(d.ID); err != nil || first.Size != 4 {
		t.Errorf("the registry has %+v, %v", first, err)
	}
}

// The registry is this host's; the places are everybody's.
func TestIDThatAnotherHostSent(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	for _, file := range []string{"new/ID", "cur/ID", "cur/ID:2,S", "done/ID"} {
		id := newID(t, s)
		put(t, filepath.Join(m.dir, strings.Replace(file, "ID", string(id), 1)), onDisk(id, nil, "body"))
		_, err := send(s, note(id), "bodY")
		wantErr(t, err, ErrConflict)
		if isRegistered(s, id) {
			t.Errorf("%s: what was not sent is registered", file)
		}
		r, err := send(s, note(id), "body")
		if err != nil || !r.Replayed || r.Outcome == NotDelivered {
			t.Errorf("%s: %+v, %v", file, r, err)
		}
		if !isRegistered(s, id) {
			t.Errorf("%s: the registry did not learn it", file)
		}
	}
	wantFiles(t, m, "tmp")
}

// What a sync tool brings in the moment of the publish is looked at, not
// replaced.
func TestPublishTargetExists(t *testing.T) {
	for _, c := range []struct {
		there string
		want  error
	}{{"body", nil}, {"bodY", ErrConflict}} {
		s := newSpool(t, "bob")
		m := mailbox(t, s, "bob")
		w, err := s.NewDelivery(note(""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, "body"); err != nil {
			t.Fatal(err)
		}
		put(t, m.file(New, w.ID()), onDisk(w.ID(), nil, c.there))
		r, err := w.Commit(context.Background())
		wantErr(t, err, c.want)
		if c.want == nil && !r.Replayed {
			t.Errorf("%+v", r)
		}
		wantFiles(t, m, "tmp")
		if bodies, _ := takeAll(t, m); bodies[w.ID()] != c.there {
			t.Errorf("taken: %q, want %q", bodies, c.there)
		}
	}
}

// What was in the way of a publish can be gone at the next look.
func TestPublishTargetVanishes(t *testing.T) {
	s := newSpool(t, "bob")
	w, err := s.NewDelivery(note(""))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := s.register(&w.h, w.tmp); err != nil {
		t.Fatal(err)
	}
	r, err := w.foundUnregistered(nil, nil)
	wantErr(t, err, ErrLocked)
	if r.Outcome != NotDelivered || isRegistered(s, w.ID()) {
		t.Errorf("%+v, registered %t", r, isRegistered(s, w.ID()))
	}
}

func TestBodyLimit(t *testing.T) {
	s := newSpool(t, "bob")
	s.sys.Env = func(name string) string { return map[string]string{"XFER_MAX_BYTES": "4"}[name] }
	mustSend(t, s, note(""), "body")
	w, err := s.NewDelivery(note(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"bo", "dy"} {
		if _, err := io.WriteString(w, part); err != nil {
			t.Fatal(err)
		}
	}
	_, err = io.WriteString(w, "!")
	wantErr(t, err, ErrTooLarge)
	if err != nil && (!strings.Contains(err.Error(), "5 bytes") || !strings.Contains(err.Error(), "is 4")) {
		t.Errorf("%v: want both figures", err)
	}
	w.Abort()
	wantFiles(t, mailbox(t, s, "bob"), "tmp")
}

func TestMaxBytesRefuses(t *testing.T) {
	sys := machine(here)
	for _, s := range []string{"x", "-1", "1e6", "1000000000000", " 1"} {
		sys.Env = func(string) string { return s }
		_, err := sys.MaxBytes()
		wantErr(t, err, ErrConfig)
	}
}

// onSync has sync called with the name of what is synced.
func onSync(s *Spool, sync func(name string) error) {
	s.sys.Sync = func(f *os.File) error { return sync(f.Name()) }
	s.fs.Sync = s.sys.Sync
}

func TestSyncOfTheFileFails(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	d := note(newID(t, s))
	onSync(s, func(name string) error {
		if filepath.Dir(name) == m.tmpDir() {
			return syscall.EIO
		}
		return nil
	})
	r, err := send(s, d, "body")
	wantErr(t, err, syscall.EIO)
	if r.Outcome != NotDelivered || isRegistered(s, d.ID) {
		t.Errorf("%+v", r)
	}
	wantFiles(t, m, "tmp")
	wantFiles(t, m, "new")
}

func TestSyncOfTheDirectoryFails(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	d := note(newID(t, s))
	sick := true
	onSync(s, func(name string) error {
		if sick && name == m.placeDir(New) {
			return syscall.EIO
		}
		return nil
	})
	r, err := send(s, d, "body")
	wantErr(t, err, ErrUnknown)
	if r.Outcome != Unknown || r.ID != d.ID {
		t.Errorf("%+v", r)
	}
	sick = false
	r, err = send(s, d, "body")
	if err != nil || !r.Replayed || r.Outcome != Queued {
		t.Errorf("%+v, %v", r, err)
	}
	wantFiles(t, m, "new", string(d.ID))
}

// A reader that the publish wakes must find the handoff unlocked.
func TestPublishedUnlocked(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	seen := false
	onSync(s, func(name string) error {
		if name == m.placeDir(New) && !seen {
			bodies, _ := takeAll(t, m)
			seen = len(bodies) == 1
		}
		return nil
	})
	r, err := send(s, note(""), "body")
	if err != nil || r.Outcome != Delivered || !seen {
		t.Errorf("%+v, %v, taken by then: %t", r, err, seen)
	}
}

// Many that send one id at once: one file, and each is told the same.
func TestReplayRace(t *testing.T) {
	s := newSpool(t, "bob")
	for range 10 {
		d := note(newID(t, s))
		var mu sync.Mutex
		fresh, conflicts := 0, 0
		race(20, func(i int) {
			r, err := send(s, d, []string{"body", "bodY"}[i%2])
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, ErrConflict):
				conflicts++
			case err != nil:
				t.Error(err)
			case !r.Replayed:
				fresh++
			}
		})
		if fresh != 1 || conflicts != 10 {
			t.Errorf("%d were the first, %d in conflict; want 1 and 10", fresh, conflicts)
		}
	}
	m := mailbox(t, s, "bob")
	wantFiles(t, m, "tmp")
	if n := len(files(t, m, "new")); n != 10 {
		t.Errorf("%d files of 10 ids", n)
	}
}

// Whoever completes, undoes or folds an id holds its lock meanwhile.
func TestReplayWaitsForTheLockOfItsID(t *testing.T) {
	s := newSpool(t, "bob")
	d := note(newID(t, s))
	unlock, err := s.lock(t.Context(), s.idLock(d.ID), 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := send(s, d, "body")
	wantErr(t, err, ErrLocked)
	if r.Outcome != NotDelivered || isRegistered(s, d.ID) {
		t.Errorf("%+v", r)
	}
	wantFiles(t, mailbox(t, s, "bob"), "tmp")
	unlock()
	if r, err := send(s, d, "body"); err != nil || r.Replayed {
		t.Errorf("%+v, %v", r, err)
	}
}

// race runs n at once, from one line.
func race(n int, run func(i int)) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { <-start; run(i) })
	}
	close(start)
	wg.Wait()
}

// All of this on a system that lacks hard links, or renames that replace
// nothing.
func TestWithoutASystemCall(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"linkat", "renameat2"} {
		t.Run(call, func(t *testing.T) {
			cmd := exec.Command(exe, "-test.short", "-test.run=^Test(Deliver|Replay|Conflict|TempFile|EmptyRegistry|IDThat|Publish|Sync|Claim|Home|Local|Create|Conclu)")
			cmd.Env = append(os.Environ(), denyVariable+"="+call)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "PASS") || strings.Contains(string(out), "no tests to run") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
