package durable

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Holder is the process that holds a lock of the file at path, and the name of
// its program; pid is 0 where the kernel does not tell (proc_locks(5)): the
// holder may be in another container, or gone by now.
func Holder(path string) (pid int, program string) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, ""
	}
	st := info.Sys().(*syscall.Stat_t)
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	f, err := os.Open("/proc/locks")
	if err != nil {
		return 0, ""
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// A waiter's line has "->" for its second word.
		words := strings.Fields(lines.Text())
		if len(words) < 6 || words[1] != "FLOCK" || words[5] != file {
			continue
		}
		if pid, err = strconv.Atoi(words[4]); err != nil || pid <= 0 {
			return 0, ""
		}
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		return pid, strings.TrimSuffix(string(comm), "\n")
	}
	return 0, ""
}
