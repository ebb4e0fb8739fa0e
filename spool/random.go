package spool

import (
	"errors"

	"golang.org/x/sys/unix"
)

// A kernelRandom reads from getrandom(2) and nothing else. crypto/rand starts a
// timer at its first read, to tell of a kernel that has no entropy yet; Go's
// poller and a thread come with it, which is an eighth of a send's time (measured).
type kernelRandom struct{}

func (kernelRandom) Read(p []byte) (int, error) {
	for {
		n, err := unix.Getrandom(p, 0)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}
