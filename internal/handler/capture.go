package handler

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrTooMuch is why a handler whose standard output is captured was asked to
// end: it printed more than the limit.
var ErrTooMuch = errors.New("it printed too much")

// A capture keeps what a handler prints on standard output, up to a limit. It
// comes through a pipe, since nobody would stop a handler that writes to a file
// from filling the disk.
type capture struct {
	to   io.Writer
	room int64 // in bytes
	r    *os.File

	full chan struct{} // closed once not all is kept any more
	kept chan struct{} // closed when no more is kept
	err  error         // why not all was kept; to be read after either
}

func newCapture(to io.Writer, limit int64) (c *capture, stdout *os.File, err error) {
	c = &capture{to: to, room: limit, full: make(chan struct{}), kept: make(chan struct{})}
	c.r, stdout, err = os.Pipe()
	return c, stdout, err
}

// run reads to the end, which may come long after the handler's: a daemon that
// it left behind is not killed by a closed pipe.
func (c *capture) run() {
	defer func() { _ = c.r.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := c.r.Read(buf)
		c.keep(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			close(c.kept)
			return
		}
	}
	c.rest(buf)
	close(c.kept)
	_, _ = io.Copy(io.Discard, c.r)
}

// end is for when the handler has ended: what it printed is kept, or in the
// pipe by now. The error is ErrTooMuch, or why it could not be kept.
func (c *capture) end() error {
	_ = c.r.SetReadDeadline(time.Unix(1, 0)) // one that is closed has been read to its end
	<-c.kept
	return c.err
}

// rest keeps what is in the pipe, and waits for nothing.
func (c *capture) rest(buf []byte) {
	_ = c.r.SetReadDeadline(time.Time{})
	conn, err := c.r.SyscallConn()
	for err == nil {
		var n int
		var rerr error
		err = conn.Read(func(fd uintptr) bool {
			n, rerr = unix.Read(int(fd), buf)
			return true
		})
		if err != nil || n <= 0 && rerr != unix.EINTR {
			return
		}
		c.keep(buf[:max(n, 0)])
	}
}

func (c *capture) keep(piece []byte) {
	if c.err != nil || len(piece) == 0 {
		return
	}
	if c.room -= int64(len(piece)); c.room < 0 {
		c.err = ErrTooMuch
	} else {
		_, c.err = c.to.Write(piece)
	}
	if c.err != nil {
		close(c.full)
	}
}
