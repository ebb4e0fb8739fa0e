package deny

import "golang.org/x/sys/unix"

const architecture = unix.AUDIT_ARCH_AARCH64

// numbers are the calls that can be denied.
var numbers = map[string]uint32{
	"fdatasync":         unix.SYS_FDATASYNC,
	"flock":             unix.SYS_FLOCK,
	"fsync":             unix.SYS_FSYNC,
	"inotify_add_watch": unix.SYS_INOTIFY_ADD_WATCH,
	"inotify_init1":     unix.SYS_INOTIFY_INIT1,
	"linkat":            unix.SYS_LINKAT,
	"renameat":          unix.SYS_RENAMEAT,
	"renameat2":         unix.SYS_RENAMEAT2,
}
