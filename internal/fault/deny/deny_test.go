package deny

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A filter cannot be taken off again, so what it does is looked at in
// processes of their own: this binary, under another name.
const (
	denier = "deny-test-denier" // denies, looks, and starts a child
	child  = "deny-test-child"  // only looks
)

func TestMain(m *testing.M) {
	switch os.Args[0] {
	case denier:
		end(deny())
	case child:
		end(look("."))
	}
	os.Exit(m.Run())
}

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func again(name string) *exec.Cmd {
	return &exec.Cmd{Path: "/proc/self/exe", Args: []string{name}}
}

func TestDeniedInAllThreadsAndChildren(t *testing.T) {
	cmd := again(denier)
	cmd.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(cmd.Dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// deny checks a thread that was there before the filter, its own, and a child.
func deny() error {
	var ready, done sync.WaitGroup
	denied := make(chan struct{})
	var early error
	ready.Add(1)
	done.Go(func() {
		runtime.LockOSThread()
		ready.Done()
		<-denied
		early = look(".")
	})
	ready.Wait()
	if err := Syscalls(syscall.EPERM, "link", "linkat"); err != nil {
		return err
	}
	if err := Syscalls(syscall.ENOSYS, "renameat2"); err != nil {
		return err
	}
	close(denied)
	done.Wait()
	out, late := again(child).CombinedOutput()
	if late != nil {
		late = fmt.Errorf("child: %w: %s", late, out)
	}
	return errors.Join(early, look("."), late)
}

// look says how what can be done in dir differs from what should be.
func look(dir string) error {
	file, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
	if err := os.Link(file, other); !errors.Is(err, syscall.EPERM) {
		return fmt.Errorf("link: got %v, want EPERM", err)
	}
	err := unix.Renameat2(unix.AT_FDCWD, file, unix.AT_FDCWD, other, unix.RENAME_NOREPLACE)
	if !errors.Is(err, syscall.ENOSYS) {
		return fmt.Errorf("renameat2: got %v, want ENOSYS", err)
	}
	if err := unix.Renameat(unix.AT_FDCWD, file, unix.AT_FDCWD, file); err != nil {
		return fmt.Errorf("renameat, which is not denied: %w", err)
	}
	return nil
}

func TestUnknownNameDeniesNothing(t *testing.T) {
	if err := Syscalls(syscall.EPERM, "renameat", "linkatt"); err == nil {
		t.Error("no error")
	}
	dir := t.TempDir()
	if err := unix.Renameat(unix.AT_FDCWD, dir, unix.AT_FDCWD, dir+"-moved"); err != nil {
		t.Error(err)
	}
}
