package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xfer/internal/durable"
)

// copied is a copy of s's directory: every inode is another one.
func copied(t *testing.T, s *Spool) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(s.Dir())); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, privateDir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// lived is a spool whose local/ holds something of each sort.
func lived(t *testing.T) *Spool {
	t.Helper()
	s := newSpool(t, "alice", "bob")
	m := mailbox(t, s, "bob")
	id := mustSend(t, s, Draft{From: "alice", To: "bob", Kind: Task, Subject: "s"}, "body")
	if err := mayWork(m, false); err != nil {
		t.Fatal(err)
	}
	takeAll(t, m)
	if _, err := m.Offer(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(s.idsDir(), "202611."+anID+".seg"), []byte("segment"))
	return s
}

func count(t *testing.T, dir string) int {
	t.Helper()
	names, err := readNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

func TestLocalThatWasCopiedIsRemade(t *testing.T) {
	old := lived(t)
	s, err := Open(copied(t, old), machine(here))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{s.claimsDir(), s.releasedDir(), s.runDir()} {
		if n := count(t, dir); n != 0 {
			t.Errorf("%s holds %d files of another local/", dir, n)
		}
		if count(t, filepath.Join(old.localDir(), filepath.Base(dir))) == 0 {
			t.Errorf("nothing in %s: the test tests nothing", dir)
		}
	}
	if names, err := readNames(s.idsDir()); err != nil || len(names) != 1 || !strings.HasSuffix(names[0], ".seg") {
		t.Errorf("ids/ holds %q, %v; want the segment alone", names, err)
	}
	wantSelf(t, s)
	if n := count(t, placeOf(s, "bob", Work)); n != 1 {
		t.Errorf("%d files in work/, want them left alone", n)
	}
	if _, err := Open(old.Dir(), machine(here)); err != nil {
		t.Errorf("the one it was copied from: %v", err)
	}
}

func placeOf(s *Spool, n Name, p Place) string { return filepath.Join(s.peerDir(n), string(p)) }

func wantSelf(t *testing.T, s *Spool) {
	t.Helper()
	info, err := os.Lstat(s.localDir())
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%s %d\n", s.host, durable.Inode(info))
	if b, err := os.ReadFile(s.selfFile()); err != nil || string(b) != want {
		t.Errorf("self is %q, %v, want %q", b, err, want)
	}
}

// Whatever lock is held in a copied local/, nothing is touched.
func TestLocalThatWasCopiedIsInUse(t *testing.T) {
	for _, held := range []string{"lock/peer.bob", "lock/id.9e", "await/" + anID} {
		for _, exclusive := range []bool{true, false} {
			dir := copied(t, lived(t))
			lock := filepath.Join(dir, "local", held)
			if err := os.MkdirAll(filepath.Dir(lock), privateDir); err != nil {
				t.Fatal(err)
			}
			d := durable.FS{Dir: privateDir, File: privateFile}
			unlock, err := d.LockFile(t.Context(), lock, exclusive, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Open(dir, machine(here))
			wantErr(t, err, ErrConfig)
			if n := count(t, filepath.Join(dir, "local/released")); n != 1 {
				t.Errorf("%s: released/ holds %d files, want it left alone", held, n)
			}
			unlock()
			if _, err := Open(dir, machine(here)); err != nil {
				t.Errorf("%s, once it is free: %v", held, err)
			}
		}
	}
}

func TestLocalOfAnotherHost(t *testing.T) {
	s := lived(t)
	before := count(t, s.releasedDir())
	_, err := Open(s.Dir(), machine(there))
	wantErr(t, err, ErrConfig)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "XFER_HOST="+string(here)) {
		t.Errorf("%v: the hint is %q", err, e.Hint)
	}
	if n := count(t, s.releasedDir()); n != before {
		t.Error("local/ was touched")
	}
	wantSelf(t, s)
}

// A renamed machine has the same hash.
func TestLocalOfARenamedMachine(t *testing.T) {
	s := lived(t)
	if _, err := Open(s.Dir(), machine("renamed-00000001")); err != nil {
		t.Error(err)
	}
}

// A host that has no local/ yet: a spool that a sync tool brought.
func TestLocalIsCompleted(t *testing.T) {
	s := lived(t)
	if err := os.RemoveAll(s.localDir()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.ignoreFile()); err != nil {
		t.Fatal(err)
	}
	ignoredFirst := false
	sys := machine(there)
	sys.Sync = func(f *os.File) error {
		_, lerr := os.Lstat(s.localDir())
		_, ierr := os.Lstat(s.ignoreFile())
		if f.Name() == s.Dir() && lerr != nil && ierr == nil {
			ignoredFirst = true
		}
		return nil
	}
	o, err := Open(s.Dir(), sys)
	if err != nil {
		t.Fatal(err)
	}
	if !ignoredFirst {
		t.Error("local/ was made before .stignore was durable")
	}
	wantSelf(t, o)
	mustSend(t, o, note(""), "body")
}

func TestLocalIsCompletedByManyAtOnce(t *testing.T) {
	s := lived(t)
	if err := os.RemoveAll(s.localDir()); err != nil {
		t.Fatal(err)
	}
	race(8, func(int) {
		o, err := Open(s.Dir(), machine(there))
		if err == nil {
			_, err = send(o, note(""), "body")
		}
		if err != nil {
			t.Error(err)
		}
	})
	if n := count(t, placeOf(s, "bob", New)); n != 8 {
		t.Errorf("%d delivered of 8", n)
	}
}

func TestLocalIsNoDirectory(t *testing.T) {
	s := newSpool(t)
	if err := os.RemoveAll(s.localDir()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), s.localDir()); err != nil {
		t.Fatal(err)
	}
	_, err := Open(s.Dir(), machine(here))
	wantErr(t, err, ErrConfig)
}
