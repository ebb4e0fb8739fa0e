package spool

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"xfer/internal/fault/deny"
)

// denyVariable names a system call that the whole test process has to do
// without, as on a filesystem that lacks it.
const denyVariable = "XFER_TEST_DENY"

func TestMain(m *testing.M) {
	if name := os.Getenv(denyVariable); name != "" {
		errno := syscall.EPERM
		if name == "renameat2" {
			errno = syscall.ENOSYS
		}
		if err := deny.Syscalls(errno, name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

const (
	here  Host = "here-00000001"
	there Host = "there-00000002"
)

// machine is a system of its own that never waits for the disk and has no
// environment.
func machine(h Host) *System {
	sys := NewSystem()
	sys.Host = func() (Host, error) { return h, nil }
	sys.Sync = func(*os.File) error { return nil }
	sys.Env = func(string) string { return "" }
	return sys
}

func newSpool(t *testing.T, peers ...Name) *Spool {
	t.Helper()
	s, err := OpenOrCreate(filepath.Join(t.TempDir(), "spool"), machine(here))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range peers {
		if _, _, err := s.Create(context.Background(), n, ""); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func mailbox(t *testing.T, s *Spool, n Name) *Mailbox {
	t.Helper()
	m, err := s.Mailbox(n)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newID(t *testing.T, s *Spool) ID {
	t.Helper()
	id, err := s.sys.NewID()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// note is a draft of a notification from alice to bob.
func note(id ID) Draft {
	return Draft{ID: id, From: "alice", To: "bob", Kind: Notification, Subject: "s"}
}

func send(s *Spool, d Draft, body string) (Report, error) {
	w, err := s.NewDelivery(d)
	if err != nil {
		return Report{}, err
	}
	defer w.Abort()
	if _, err := io.WriteString(w, body); err != nil {
		return Report{}, err
	}
	return w.Commit(context.Background())
}

func mustSend(t *testing.T, s *Spool, d Draft, body string) ID {
	t.Helper()
	r, err := send(s, d, body)
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// onDisk is a whole handoff from alice to bob as a foreign writer would lay it
// out.
func onDisk(id ID, change func(*Header), body string) []byte {
	h := Header{ID: id, From: "alice", FromHost: there, To: "bob", Subject: "s", Kind: Notification,
		Date: time.Date(2026, 11, 30, 6, 33, 33, 0, time.UTC), Size: int64(len(body)), Digest: sha256.Sum256([]byte(body))}
	if change != nil {
		change(&h)
	}
	return append(h.encode(), body...)
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// takeAll takes all that is due, and is what was handed out and what was noted.
func takeAll(t *testing.T, m *Mailbox) (bodies map[ID]string, notes string) {
	t.Helper()
	q, err := m.Queue(Filter{})
	if err != nil {
		t.Fatal(err)
	}
	bodies = map[ID]string{}
	for {
		c, err := q.Next(context.Background())
		notes += strings.Join(q.Notes(), "\n")
		if errors.Is(err, io.EOF) {
			return bodies, notes
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(c.Body())
		if err == nil {
			err = c.Taken("")
		}
		if err != nil {
			t.Fatal(err)
		}
		bodies[c.ID] += string(body)
		c.Release()
	}
}

// files are the names in a place of a mailbox, sorted; reasons are left out.
func files(t *testing.T, m *Mailbox, dir string) []string {
	t.Helper()
	names, err := readNames(filepath.Join(m.dir, dir))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(n string) bool { return strings.HasSuffix(n, reasonSuffix) })
}

func wantFiles(t *testing.T, m *Mailbox, dir string, want ...string) {
	t.Helper()
	if got := files(t, m, dir); !slices.Equal(got, want) {
		t.Errorf("%s/ holds %q, want %q", dir, got, want)
	}
}

func wantErr(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func isRegistered(s *Spool, id ID) bool {
	_, err := os.Lstat(s.idFile(id))
	return !errors.Is(err, fs.ErrNotExist)
}
