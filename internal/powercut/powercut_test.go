//go:build powercut

package powercut

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"xfer/spool"
)

const (
	senders = 8
	// load is how long handoffs are sent before the cut: less than the time
	// after which a filesystem writes by itself what nobody synced.
	load = 2 * time.Second
	// tries is how often unsynced handoffs may all have survived.
	tries = 5
)

var kinds = []string{"ext4", "xfs"}

func TestNothingThatWasToldIsLost(t *testing.T) {
	wantTools(t)
	bin := build(t)
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			told, lost := cutUnderLoad(t, kind, programs(bin))
			t.Logf("%d told", told)
			if told == 0 {
				t.Fatal("nothing was sent")
			}
			if len(lost) > 0 {
				t.Errorf("%d of %d are lost: %q", len(lost), told, lost)
			}
		})
	}
}

// A test that finds nothing missing where nothing was synced would find nothing
// missing anywhere.
func TestWhatIsNotSyncedIsLost(t *testing.T) {
	wantTools(t)
	bin := build(t)
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			for range tries {
				if told, lost := cutUnderLoad(t, kind, programs(bin, "--no-sync")); len(lost) > 0 {
					t.Logf("%d of %d are lost", len(lost), told)
					return
				}
			}
			t.Error("nothing was lost: this cut is none")
		})
	}
}

// The file's sync alone is not enough: its name has to be durable too. The sync
// of the next handoff's file makes it so; after the last there is none.
func TestWithoutTheDirectorysSyncTheLastIsLost(t *testing.T) {
	wantTools(t)
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			for range tries {
				d, dir := newSpool(t, kind)
				var ids []string
				for range 20 {
					id, err := filesOnly(dir)
					if err != nil {
						t.Fatal(err)
					}
					ids = append(ids, id)
				}
				d.cut()
				if lost := lostOf(d, dir, ids); len(lost) > 0 {
					t.Logf("%d of %d are lost", len(lost), len(ids))
					return
				}
			}
			t.Error("nothing was lost")
		})
	}
}

// A sender sends one handoff into the spool at dir, and is the id that was told;
// an error is that the power is gone.
type sender func(dir string) (id string, err error)

// programs sends with xfer-send.
func programs(bin string, flags ...string) sender {
	return func(dir string) (string, error) {
		c := exec.Command(filepath.Join(bin, "xfer-send"), append([]string{"-q", "-k", "notification", "-s", "s", "bob"}, flags...)...)
		c.Env = []string{"XFER_SPOOL=" + dir, "XFER_HOST=here-00000001", "XFER_NAME=alice", "HOME=" + dir}
		c.Stdin = strings.NewReader(body)
		out, err := c.Output()
		id, _ := bytes.CutSuffix(out, []byte("\n"))
		if len(id) == len(out) || string(id) == "-" {
			return "", err
		}
		return string(id), err
	}
}

// filesOnly sends as the programs do, but that it syncs no directory.
func filesOnly(dir string) (string, error) {
	sys := system()
	sys.Sync = func(f *os.File) error {
		if info, err := f.Stat(); err != nil || info.IsDir() {
			return err
		}
		return f.Sync()
	}
	s, err := spool.Open(dir, sys)
	if err != nil {
		return "", err
	}
	w, err := s.NewDelivery(spool.Draft{From: "alice", To: "bob", Kind: spool.Notification, Subject: "s", Type: "text/plain"})
	if err != nil {
		return "", err
	}
	defer w.Abort()
	if _, err := io.WriteString(w, body); err != nil {
		return "", err
	}
	r, err := w.Commit(context.Background())
	if err != nil {
		return "", err
	}
	return string(r.ID), nil
}

const body = "a body that has to be whole\n"

func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command("go", "build", "-o", dir, "xfer/cmd/xfer-send")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// cutUnderLoad sends until the power is cut, and is how many ids were told, and
// which of them are not there afterwards, whole.
func cutUnderLoad(t *testing.T, kind string, send sender) (told int, lost []string) {
	t.Helper()
	d, dir := newSpool(t, kind)
	var mu sync.Mutex
	var ids []string
	cutting := false
	var sending sync.WaitGroup
	for range senders {
		sending.Go(func() {
			for {
				id, err := send(dir)
				if id != "" {
					mu.Lock()
					if !cutting {
						ids = append(ids, id)
					}
					mu.Unlock()
				}
				if err != nil {
					return // the power is gone
				}
			}
		})
	}
	time.Sleep(load) // this is what is measured out, not waited for
	// While it goes off, a sync may be told to have succeeded that did nothing:
	// with the power that would be told to nobody.
	mu.Lock()
	cutting = true
	mu.Unlock()
	d.cut()
	sending.Wait()
	return len(ids), lostOf(d, dir, ids)
}

// newSpool is an empty one that a cut leaves.
func newSpool(t *testing.T, kind string) (d *disk, dir string) {
	t.Helper()
	d = newDisk(t, kind)
	dir = filepath.Join(d.dir, "spool")
	s, err := spool.OpenOrCreate(dir, system())
	if err == nil {
		_, _, err = s.MakeMailbox("bob")
	}
	if err != nil {
		t.Fatal(err)
	}
	d.run("sync")
	return d, dir
}

// lostOf is which of ids are not there after a restart, whole.
func lostOf(d *disk, dir string, ids []string) (lost []string) {
	d.t.Helper()
	d.restart()
	for _, id := range ids {
		if !whole(d.t, dir, spool.ID(id)) {
			lost = append(lost, id)
		}
	}
	sound(d.t, dir)
	return lost
}

func system() *spool.System {
	sys := spool.NewSystem()
	sys.Host = func() (spool.Host, error) { return "here-00000001", nil }
	return sys
}

func whole(t *testing.T, dir string, id spool.ID) bool {
	t.Helper()
	s, err := spool.Open(dir, system())
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Mailbox("bob")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(m.Path(spool.New, id)); err != nil {
		return false
	}
	f, _, err := s.OpenAny(id)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	_, err = f.Verify()
	return err == nil
}

// sound wants nothing in new/ that is half a handoff and passes for a whole one.
func sound(t *testing.T, dir string) {
	t.Helper()
	s, err := spool.Open(dir, system())
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Severity == spool.Fault {
			t.Error(f)
		}
	}
}
