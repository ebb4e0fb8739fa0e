//go:build powercut

package powercut

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
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
			told, lost := cutUnderLoad(t, bin, kind)
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
				if told, lost := cutUnderLoad(t, bin, kind, "--no-sync"); len(lost) > 0 {
					t.Logf("%d of %d are lost", len(lost), told)
					return
				}
			}
			t.Error("nothing was lost: this cut is none")
		})
	}
}

func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command("go", "build", "-o", dir, "xfer/cmd/xfer-send", "xfer/cmd/xfer-inbox")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// cutUnderLoad sends until the power is cut, and is how many ids were told, and
// which of them are not there afterwards, whole.
func cutUnderLoad(t *testing.T, bin, kind string, flags ...string) (told int, lost []string) {
	t.Helper()
	d := newDisk(t, kind)
	dir := filepath.Join(d.dir, "spool")
	env := []string{"XFER_SPOOL=" + dir, "XFER_HOST=here", "XFER_NAME=bob", "HOME=" + d.dir}
	create := exec.Command(filepath.Join(bin, "xfer-inbox"), "-q", "create")
	create.Env = env
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var mu sync.Mutex
	var ids []string
	var sending sync.WaitGroup
	for range senders {
		sending.Go(func() {
			for {
				send := exec.Command(filepath.Join(bin, "xfer-send"), append([]string{"-q", "-k", "notification", "-s", "s", "bob"}, flags...)...)
				send.Env, send.Stdin = env, strings.NewReader("a body that has to be whole\n")
				out, err := send.Output()
				if id, whole := bytes.CutSuffix(out, []byte("\n")); whole && string(id) != "-" {
					mu.Lock()
					ids = append(ids, string(id))
					mu.Unlock()
				}
				if err != nil {
					return // the power is gone
				}
			}
		})
	}
	time.Sleep(load) // this is what is measured out, not waited for
	d.cut()
	sending.Wait()
	d.restart()
	for _, id := range ids {
		if !whole(t, dir, spool.ID(id)) {
			lost = append(lost, id)
		}
	}
	sound(t, dir)
	return len(ids), lost
}

func system() *spool.System {
	sys := spool.NewSystem()
	sys.Host = func() (spool.Host, error) { return "here", nil }
	return sys
}

func whole(t *testing.T, dir string, id spool.ID) bool {
	t.Helper()
	s, err := spool.Open(dir, system())
	if errors.Is(err, spool.ErrNoSpool) {
		return false
	}
	if err != nil {
		t.Fatal(err)
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
	if _, err := os.Lstat(filepath.Join(dir, "xfer-spool")); errors.Is(err, fs.ErrNotExist) {
		return // without a sync the spool itself may be gone
	}
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
