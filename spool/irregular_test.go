package spool

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestIrregularFiles puts what is no regular file under an id's name: it is
// passed over in one line, at once, and what it leads to is never read.
func TestIrregularFiles(t *testing.T) {
	for kind, lay := range map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink("/dev/zero", path) },
		"fifo":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"socket": func(path string) error {
			// The path is too long for an address; a file's own directory is not.
			dir, err := os.MkdirTemp("", "")
			if err != nil {
				return err
			}
			defer func() { _ = os.RemoveAll(dir) }()
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dir + "/s", Net: "unix"})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			defer func() { _ = l.Close() }()
			return os.Rename(dir+"/s", path)
		},
		"device": layDevice,
	} {
		t.Run(kind, func(t *testing.T) {
			s := newSpool(t, "bob")
			m := mailbox(t, s, "bob")
			first := newID(t, s)
			if err := lay(m.file(New, first)); err != nil {
				t.Fatal(err)
			}
			next := mustSend(t, s, note(""), "body")
			begun := time.Now()
			l, err := m.List(context.Background(), []Place{New}, Filter{}, "", 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(l.Handoffs) != 1 || len(l.Notes) != 1 {
				t.Errorf("listed %d with notes %q", len(l.Handoffs), l.Notes)
			}
			bodies, notes := takeAll(t, m)
			if bodies[next] != "body" || len(bodies) != 1 || strings.Count(notes, "not a regular file") != 1 {
				t.Errorf("took %q, and was told %q", bodies, notes)
			}
			if _, err := m.ClaimID(context.Background(), first); !errors.Is(err, ErrMalformed) {
				t.Errorf("a claim of it: %v", err)
			}
			if _, _, err := s.OpenAny(first); !errors.Is(err, ErrMalformed) {
				t.Errorf("a look at it: %v", err)
			}
			if d := time.Since(begun); d > time.Second {
				t.Errorf("it took %v", d)
			}
			if _, err := os.Lstat(m.file(New, first)); err != nil {
				t.Error(err)
			}
		})
	}
}

// layDevice makes /dev/zero where the system lets this process do so, and a
// link to it elsewhere.
func layDevice(path string) error {
	err := unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5)))
	if errors.Is(err, unix.EPERM) {
		return os.Symlink("/dev/zero", path)
	}
	return err
}

// TestHugeHeaders reads headers far over the limit without taking them in.
func TestHugeHeaders(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	const size = 16 << 20
	for i, header := range []string{
		"Subject: " + strings.Repeat("y", size),
		strings.Repeat("X-A: b\n", size/7),
		strings.Repeat("\n ", size/2),
	} {
		id := newID(t, s)
		put(t, m.file(New, id), []byte(header+"\n\nbody"))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := openFile(m.file(New, id), id)
		runtime.ReadMemStats(&after)
		if want := fmt.Sprint(MaxHeader); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), want) {
			t.Errorf("header %d: %v", i, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("header %d took %d bytes of memory", i, took)
		}
	}
}
