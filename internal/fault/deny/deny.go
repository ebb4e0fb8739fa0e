// Package deny takes system calls away from a process and all its future
// children, to run tests as on a file system or kernel that lacks them. It is
// for test binaries alone: what is denied stays denied until the process ends.
package deny

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Syscalls makes every call of the named system calls fail with errno, in all
// threads of this process and in the children they start from now on.
// Set-user-id programs lose their privilege there too. A name that this
// architecture has under no number is an error, except link and rename, which
// only some have beside linkat and renameat. Nothing is denied after an error.
func Syscalls(errno syscall.Errno, names ...string) error {
	var denied []uint32
	for _, name := range names {
		nr, ok := numbers[name]
		if !ok && name != "link" && name != "rename" {
			return fmt.Errorf("deny %q: system call unknown here", name)
		}
		if ok {
			denied = append(denied, nr)
		}
	}
	return install(filter(errno, denied))
}

// Offsets in struct seccomp_data, see seccomp(2).
const (
	offsetNumber       = 0
	offsetArchitecture = 4
)

// filter is the program that the kernel runs at each system call.
func filter(errno syscall.Errno, denied []uint32) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	equal := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	answer := func(k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}
	}
	// Numbers mean other calls to a 32-bit child, which is left alone.
	prog := []unix.SockFilter{
		load(offsetArchitecture),
		equal(architecture, 1, 0),
		answer(unix.SECCOMP_RET_ALLOW),
		load(offsetNumber),
	}
	for _, nr := range denied {
		prog = append(prog, equal(nr, 0, 1), answer(unix.SECCOMP_RET_ERRNO|uint32(errno)&unix.SECCOMP_RET_DATA))
	}
	return append(prog, answer(unix.SECCOMP_RET_ALLOW))
}

// install puts the filter on all threads at once.
func install(prog []unix.SockFilter) error {
	// no_new_privs belongs to the thread; the filter's TSYNC hands it on.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("deny: no new privileges: %w", err)
	}
	program := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(prog)
	if errno != 0 {
		return fmt.Errorf("deny: install filter: %w", errno)
	}
	if thread != 0 {
		return fmt.Errorf("deny: install filter: thread %d cannot take it", thread)
	}
	return nil
}
