package testscript_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	denied "xfer/internal/fault/deny"
	"xfer/spool"
)

const (
	knownNow  = "2026-11-30T06:33:33Z"
	knownHost = "testhost-3fa09c11"
)

// knownSystem is a machine on which two runs of a script are the same.
func knownSystem() *spool.System {
	sys := spool.NewSystem()
	now := os.Getenv("XFER_TEST_NOW")
	if now == "" {
		now = knownNow
	}
	at, err := time.Parse(time.RFC3339, now)
	if err != nil {
		fmt.Fprintf(os.Stderr, "XFER_TEST_NOW: %v\n", err)
		os.Exit(2)
	}
	sys.Now = func() time.Time { return at }
	sys.Rand = counted{}
	if os.Getenv("XFER_HOST") == "" {
		sys.Host = func() (spool.Host, error) { return knownHost, nil }
	}
	if s := os.Getenv("XFER_TEST_SYNC"); s != "" {
		sys.Sync = failingSync(s, sys.Sync)
	}
	return sys
}

// failingSync is sync, but the Nth call of the process gives ERRNO, by what,
// "N:ERRNO".
func failingSync(what string, sync func(*os.File) error) func(*os.File) error {
	n, name, _ := strings.Cut(what, ":")
	nth, err := strconv.ParseInt(n, 10, 64)
	errno := errnoOf(name)
	if err != nil || errno == 0 {
		fmt.Fprintf(os.Stderr, "XFER_TEST_SYNC: %q is not N:ERRNO\n", what)
		os.Exit(2)
	}
	var calls atomic.Int64
	return func(f *os.File) error {
		if calls.Add(1) == nth {
			return &os.PathError{Op: "sync", Path: f.Name(), Err: errno}
		}
		return sync(f)
	}
}

func errnoOf(name string) syscall.Errno {
	for e := syscall.Errno(1); e < 134; e++ {
		if unix.ErrnoName(e) == name {
			return e
		}
	}
	return 0
}

// counted is a random source for all processes of a script that only counts,
// so that ids come in the order of their minting. Long reads are ids' entropy:
// the first of a process is a multiple of 1024, which is "100" in an id. Four
// bytes are the step to its next id, to which one is added. Short reads tell
// temp files apart.
type counted struct{}

const (
	entropyLen = 10
	stepLen    = 4
	idsApart   = 1024
)

func (counted) Read(p []byte) (int, error) {
	clear(p)
	if len(p) == stepLen {
		p[0] = 1
		return len(p), nil
	}
	if len(p) < entropyLen {
		n, err := count("names")
		for i := len(p) - 1; i >= 0; i-- {
			p[i] = byte(n)
			n >>= 8
		}
		return len(p), err
	}
	n, err := count("ids")
	binary.BigEndian.PutUint64(p[entropyLen-8:], n*idsApart)
	return len(p), err
}

// count returns how many times it was called for what, in all processes of the
// script.
func count(what string) (uint64, error) {
	path := filepath.Join(os.Getenv("WORK"), ".tmp", "count."+what)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return 0, err
	}
	var b [8]byte
	if _, err := f.ReadAt(b[:], 0); err != nil {
		b = [8]byte{} // the first call
	}
	n := binary.BigEndian.Uint64(b[:]) + 1
	binary.BigEndian.PutUint64(b[:], n)
	_, err = f.WriteAt(b[:], 0)
	return n, err
}

// deny takes system calls away, with the errors that systems without them
// give.
func deny(names string) error {
	for name := range strings.SplitSeq(names, ",") {
		var err error
		switch name {
		case "":
		case "linkat":
			err = denied.Syscalls(syscall.EPERM, "linkat", "link")
		case "renameat2":
			err = denied.Syscalls(syscall.ENOSYS, "renameat2")
		default:
			err = fmt.Errorf("XFER_TEST_DENY: %q is not known", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unprivileged gives up, where the test runs as root, root's way past file
// modes: scripts see EACCES where a user would. Capabilities belong to threads,
// and a new program has those that its thread may have.
func unprivileged() error {
	if os.Geteuid() != 0 {
		return nil
	}
	held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_DAC_OVERRIDE, 0, 0, 0)
	if err != nil || held == 0 {
		return err
	}
	runtime.LockOSThread()
	for _, c := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return fmt.Errorf("give up a capability: %w", err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, os.Environ())
}
