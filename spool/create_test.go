package spool

import (
	"os"
	"path/filepath"
	"testing"
)

// Twenty that make a spool at once make one, and leave nothing beside it.
func TestCreateRace(t *testing.T) {
	for range 15 {
		parent := t.TempDir()
		dir := filepath.Join(parent, "a", "spool")
		race(20, func(int) {
			s, err := OpenOrCreate(dir, machine(here))
			if err == nil {
				_, _, err = s.Create(t.Context(), "bob", "")
			}
			if err == nil {
				_, err = send(s, note(""), "body")
			}
			if err != nil {
				t.Error(err)
			}
		})
		if n := count(t, filepath.Join(parent, "a")); n != 1 {
			names, _ := readNames(filepath.Join(parent, "a"))
			t.Fatalf("made: %q", names)
		}
		if n := count(t, filepath.Join(dir, "peers/bob/new")); n != 20 {
			t.Fatalf("%d delivered of 20", n)
		}
		if t.Failed() {
			return
		}
	}
}

// What a crash left of a creation is gone on with.
func TestCreateAfterACrash(t *testing.T) {
	for _, left := range []string{"", "peers", "peers/x", "board"} {
		parent := t.TempDir()
		if err := os.MkdirAll(filepath.Join(parent, ".spool.new", left), privateDir); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenOrCreate(filepath.Join(parent, "spool"), machine(here)); err != nil {
			t.Errorf("%q: %v", left, err)
		}
		if n := count(t, parent); n != 1 {
			t.Errorf("%q: %d names, want the spool alone", left, n)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	for name, lay := range map[string]func(dir string) error{
		"an empty directory": func(dir string) error { return os.Mkdir(dir, privateDir) },
		"a file":             func(dir string) error { return os.WriteFile(dir, nil, privateFile) },
		"a directory of something": func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, "peers"), privateDir)
		},
	} {
		dir := filepath.Join(t.TempDir(), "spool")
		if err := lay(dir); err != nil {
			t.Fatal(err)
		}
		_, err := OpenOrCreate(dir, machine(here))
		wantErr(t, err, ErrNoSpool)
		if n := count(t, filepath.Dir(dir)); n != 1 {
			t.Errorf("%s: %d names beside one another, want one", name, n)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	s := newSpool(t)
	put(t, s.versionFile(), []byte("xfer-spool 2\n"))
	_, err := Open(s.Dir(), machine(here))
	wantErr(t, err, ErrVersion)
	put(t, s.versionFile(), []byte("xfer-spool 1\n"))
	if err := os.Chmod(s.Dir(), 0o750); err != nil {
		t.Fatal(err)
	}
	_, err = Open(s.Dir(), machine(here))
	wantErr(t, err, ErrModes)
}
