package tool

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// isTerminal goes through SyscallConn because Fd would make the file blocking.
func isTerminal(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	yes := false
	_ = conn.Control(func(fd uintptr) {
		_, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
		yes = err == nil
	})
	return yes
}

// wasClosed tells whether f is /dev/null, open for reading and writing: what the
// runtime makes of a standard descriptor that was closed.
func wasClosed(f *os.File) bool {
	const null = 1<<8 | 3 // null(4)
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeCharDevice == 0 || info.Sys().(*syscall.Stat_t).Rdev != null {
		return false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	yes := false
	_ = conn.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		yes = err == nil && flags&unix.O_ACCMODE == unix.O_RDWR
	})
	return yes
}
