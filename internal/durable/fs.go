package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// An FS makes files and directories with the modes of one spool. Its zero
// value is not usable.
type FS struct {
	Dir, File fs.FileMode            // modes, whatever the umask
	Sync      func(f *os.File) error // fsync; a file or a directory
	Temp      string                 // directory for the temp files of Replace
	Suffix    func() (string, error) // a random suffix for names in Temp
}

// umask is read once: it cannot be read without being set, and a process of
// this tool set never changes it.
var umask = func() fs.FileMode {
	m := syscall.Umask(0)
	syscall.Umask(m)
	return fs.FileMode(m)
}()

// Create makes path for reading and writing; it must not be there
// (fs.ErrExist).
func (d *FS) Create(path string) (*os.File, error) {
	f, err := openAt(path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, uint32(d.File.Perm()))
	if err != nil {
		return nil, err
	}
	if d.File.Perm()&umask != 0 {
		if err := f.Chmod(d.File); err != nil {
			_ = f.Close()
			_ = Remove(path)
			return nil, err
		}
	}
	return f, nil
}

// Mkdir makes dir, whose parent must be there, and syncs the parent. That it
// is there already, as a directory and not as a link to one, is no error.
func (d *FS) Mkdir(dir string) error {
	err := os.Mkdir(dir, d.Dir.Perm())
	if errors.Is(err, fs.ErrExist) {
		return IsDir(dir)
	}
	if err != nil {
		return err
	}
	if d.Dir.Perm()&umask != 0 || d.Dir&fs.ModeSetgid != 0 {
		if err := os.Chmod(dir, d.Dir); err != nil {
			return err
		}
	}
	return d.SyncDir(filepath.Dir(dir))
}

// IsDir is nil when path is a directory and not a link to one.
func IsDir(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return err
}

// SyncDir makes the names in dir durable.
func (d *FS) SyncDir(dir string) error {
	f, err := OpenDir(dir)
	if err != nil {
		return err
	}
	err = d.Sync(f)
	_ = f.Close()
	return err
}

// OpenDir opens the directory at path, and not a link to one, for reading its
// names and for syncing them.
func OpenDir(path string) (*os.File, error) {
	return openAt(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// openAt is os.OpenFile without its offer of every file to the network poller,
// which takes no regular file: three to six system calls an open.
func openAt(path string, flag int, perm uint32) (*os.File, error) {
	for {
		fd, err := unix.Open(path, flag|unix.O_CLOEXEC, perm)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		if flag&unix.O_NONBLOCK != 0 { // it was for the open; os.NewFile would take it for more
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flag&unix.O_APPEND); err != nil {
				_ = unix.Close(fd)
				return nil, &fs.PathError{Op: "open", Path: path, Err: err}
			}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// MostOpen is how many files this process may have open.
func MostOpen() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<20))
}

// BeginWriting has the kernel begin to write a file's data to the disk, and
// waits for nothing. It is a hint: what makes the file durable is its sync.
func BeginWriting(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}

// NamesIn is every name in an open directory but "." and "..", in no order. It is
// what File.Readdirnames is for directories of a million: where that one copies
// what it has a dozen times, this one doubles its room (measured: 0.85 of the
// time).
func NamesIn(dir *os.File) (names []string, err error) {
	const least = 24 // bytes of the kernel's for a name
	buf := make([]byte, 8<<10)
	for {
		n, err := unix.ReadDirent(int(dir.Fd()), buf)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return nil, &fs.PathError{Op: "readdirent", Path: dir.Name(), Err: err}
		case n <= 0:
			return names, nil
		}
		if room := len(buf) / least; len(names) > room && cap(names)-len(names) < room {
			names = slices.Grow(names, len(names))
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// ErrNotRegular is what OpenRegular says of a link, FIFO, socket, device or
// directory.
var ErrNotRegular = errors.New("not a regular file")

// ErrReplaced is what OpenRegular says when another file took the name while
// it was being opened.
var ErrReplaced = errors.New("replaced while it was being opened")

// OpenRegular opens the regular file at path for reading and locking. It
// waits for nothing and follows no link: the name is looked at, opened, and
// what was opened compared with what was seen.
func OpenRegular(path string, flag int) (*os.File, fs.FileInfo, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	f, err := openAt(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) {
			err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
		}
		return nil, nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrReplaced}
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, after, nil
}

// Peek reads what fits into buf of the beginning of the file at path, in as
// few system calls as there can be: it does not look whether the file is a
// regular one, and waits for nothing if it is not. It follows no link.
func Peek(path string, buf []byte) (n int, err error) { return head(path, buf, unix.O_NOFOLLOW) }

// Head is Peek for a file of the system's, which may be a link.
func Head(path string, buf []byte) (n int, err error) { return head(path, buf, 0) }

func head(path string, buf []byte, flag int) (n int, err error) {
	fd, err := unix.Open(path, flag|unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	n, err = unix.Read(fd, buf)
	_ = unix.Close(fd)
	if err != nil {
		return 0, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return n, nil
}

// ReadRegular is the whole of the regular file at path, which may have at most
// limit bytes (else syscall.EFBIG).
func ReadRegular(path string, limit int64) ([]byte, error) {
	f, info, err := OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info.Size() > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EFBIG}
	}
	b := make([]byte, info.Size())
	n, err := f.ReadAt(b, 0)
	if n < len(b) && err != nil {
		return nil, err
	}
	return b[:n], nil
}
