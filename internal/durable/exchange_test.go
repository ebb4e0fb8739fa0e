package durable

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: %q, %v; want %q", filepath.Base(path), got, err, want)
	}
}

func TestSwapBringsOutWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "path")
	must(t, os.WriteFile(temp, []byte("new"), 0o600))
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	exchanged, err := Swap(temp, path, func() (bool, error) { return false, errors.New("not to be asked") })
	if !exchanged || err != nil {
		t.Fatal(exchanged, err)
	}
	wantFile(t, path, "new")
	wantFile(t, temp, "old")
	if _, err := Swap(temp, filepath.Join(dir, "nothing"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("swapped with nothing: %v", err)
	}
}

func lockIn(t *testing.T) (*FS, string) {
	path := filepath.Join(t.TempDir(), "lock")
	return &FS{Dir: 0o700, File: 0o600}, path
}

// Whoever gives up its place in the queue does not keep the lock when it comes.
func TestQueueGivesUpItsPlace(t *testing.T) {
	d, path := lockIn(t)
	ctx := context.Background()
	unlock, err := d.QueueFile(ctx, path, time.Minute)
	must(t, err)
	if _, err := d.QueueFile(ctx, path, time.Millisecond); !errors.Is(err, ErrHeld) {
		t.Errorf("got %v", err)
	}
	why := errors.New("called off")
	off, cancel := context.WithCancelCause(ctx)
	cancel(why)
	if _, err := d.QueueFile(off, path, time.Minute); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	unlock()
	unlock, err = d.QueueFile(ctx, path, time.Minute)
	must(t, err)
	unlock()
}

func TestQueueHandsOn(t *testing.T) {
	d, path := lockIn(t)
	ctx := context.Background()
	var inside, most atomic.Int32
	done := make(chan error)
	for range 20 {
		go func() {
			unlock, err := d.QueueFile(ctx, path, time.Minute)
			if err == nil {
				if n := inside.Add(1); n > 1 {
					most.Store(n)
				}
				inside.Add(-1)
				unlock()
			}
			done <- err
		}()
	}
	for range 20 {
		must(t, <-done)
	}
	if n := most.Load(); n > 1 {
		t.Errorf("%d inside at once", n)
	}
}

func TestHolderIsNamed(t *testing.T) {
	d, path := lockIn(t)
	unlock, err := d.QueueFile(context.Background(), path, time.Minute)
	must(t, err)
	pid, program := Holder(path)
	if pid != os.Getpid() || program == "" {
		t.Errorf("process %d, %q", pid, program)
	}
	unlock()
	if pid, _ := Holder(path); pid != 0 {
		t.Errorf("process %d holds what is free", pid)
	}
}

func TestLockOfWhatIsNoFile(t *testing.T) {
	d, path := lockIn(t)
	must(t, os.Symlink("elsewhere", path))
	if _, err := d.QueueFile(context.Background(), path, time.Minute); err == nil {
		t.Error("locked a link")
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(path), "elsewhere")); err == nil {
		t.Error("made what the link names")
	}
}
