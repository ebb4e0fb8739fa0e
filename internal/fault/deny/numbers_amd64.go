package deny

import "golang.org/x/sys/unix"

const architecture = unix.AUDIT_ARCH_X86_64

// numbers are the calls that can be denied.
var numbers = map[string]uint32{
	"fdatasync":         unix.SYS_FDATASYNC,
	"flock":             unix.SYS_FLOCK,
	"fsync":             unix.SYS_FSYNC,
	"inotify_add_watch": unix.SYS_INOTIFY_ADD_WATCH,
	"inotify_init1":     unix.SYS_INOTIFY_INIT1,
	"link":              unix.SYS_LINK,
	"linkat":            unix.SYS_LINKAT,
	"rename":            unix.SYS_RENAME,
	"renameat":          unix.SYS_RENAMEAT,
	"renameat2":         unix.SYS_RENAMEAT2,
}
