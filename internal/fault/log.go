package fault

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// fileSystem names the calls that are points. Those that a machine's
// architecture does not have are passed over.
var fileSystem = strings.Fields(`
	open openat openat2 creat close close_range
	read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2
	lseek ftruncate truncate fallocate fadvise64 copy_file_range sendfile splice
	fsync fdatasync sync syncfs sync_file_range
	stat lstat fstat newfstatat statx access faccessat faccessat2 statfs fstatfs
	mkdir mkdirat rmdir getdents getdents64 getcwd chdir fchdir
	link linkat symlink symlinkat readlink readlinkat unlink unlinkat
	rename renameat renameat2 mknod mknodat
	chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat
	setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
	flock fcntl dup dup2 dup3 inotify_add_watch
`)

// marker is what package pin asks for when the runtime's start-up is over.
const marker = `"/xfer-pin-main-starts-here"`

// A Call is a file-system call of main's thread.
type Call struct {
	Index int    // among main's calls, from 0
	Name  string // "fsync"
	Nth   int    // of that name since the process began, from 1, as strace counts
	Line  string // with arguments and result, as strace prints it
}

// String is "017-fsync.2".
func (c Call) String() string { return fmt.Sprintf("%03d-%s.%d", c.Index, c.Name, c.Nth) }

// Injected tells whether strace made the call fail.
func (c Call) Injected() bool { return strings.Contains(c.Line, "(INJECTED)") }

// noPath are the calls that strace shows as if they took a path: a program that
// is started, and random bytes that look like one.
var noPath = map[string]bool{"execve": true, "getrandom": true}

var (
	beginning = regexp.MustCompile(`^(\d+) +([a-z0-9_]+)\(`)
	resuming  = regexp.MustCompile(`^(\d+) +<\.\.\. [a-z0-9_]+ resumed>`)
	pathFirst = regexp.MustCompile(`^\d+ +[a-z0-9_]+\((AT_FDCWD|")`)
	unended   = []byte(" <unfinished ...>")
)

// parse reads a log of strace -f: the calls that the first thread made after
// the marker, and the lines of file-system calls that any other thread or
// child made after it. A call that takes a path and is not in fileSystem is an
// error rather than no point.
func parse(log []byte) (calls []Call, others [][]byte, err error) {
	var (
		first   string
		begun   bool
		pending bool // the last of calls has no result yet
		nth     = map[string]int{}
	)
	for line := range bytes.Lines(log) {
		line = bytes.TrimRight(line, "\n")
		if m := resuming.FindSubmatch(line); m != nil {
			if pending && string(m[1]) == first {
				calls[len(calls)-1].Line += string(line[len(m[0]):])
				pending = false
			}
			continue
		}
		m := beginning.FindSubmatch(line)
		if m == nil {
			continue
		}
		thread, name := string(m[1]), string(m[2])
		if first == "" {
			first = thread
		}
		if !slices.Contains(fileSystem, name) {
			if begun && !noPath[name] && pathFirst.Match(line) {
				return nil, nil, fmt.Errorf("not known to be a file-system call: %s", line)
			}
			continue
		}
		if thread != first {
			if begun {
				others = append(others, line)
			}
			continue
		}
		nth[name]++
		if !begun {
			begun = bytes.Contains(line, []byte(marker))
			continue
		}
		rest, cut := bytes.CutSuffix(line[len(m[1]):], unended)
		pending = cut
		calls = append(calls, Call{len(calls), name, nth[name], string(bytes.TrimLeft(rest, " "))})
	}
	if !begun {
		return nil, nil, fmt.Errorf("no start of main in strace's log: the program is not built with the tag %s", tag)
	}
	return calls, others, nil
}
