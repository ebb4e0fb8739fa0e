package command

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// Lines are read one after the other from what may be slow in giving them.
type lines struct {
	from  io.Reader
	limit int64 // bytes of a line
	buf   []byte
	at    int   // in buf: where the next line begins
	none  int   // in buf: before it, none of the next line's bytes ends it
	err   error // what the input ended with
}

const readAtOnce = 64 << 10 // bytes

func newLines(from io.Reader, limit int64) *lines { return &lines{from: from, limit: limit} }

// wait tells whether the next line would have to be waited for.
func (l *lines) wait() bool {
	slow, ok := l.from.(interface{ Waits() bool })
	for ok && l.end() < 0 && l.err == nil && !l.tooLong() {
		if slow.Waits() {
			return true
		}
		l.fill()
	}
	return false
}

// next is the next line, with its end, and with what the input ended with, what
// stands behind the last one. One of more bytes than the limit is
// bufio.ErrTooLong. It is there until the next call.
func (l *lines) next() ([]byte, error) {
	for {
		end := l.end()
		switch {
		case end >= 0:
			return l.upTo(end), nil
		case errors.Is(l.err, io.EOF):
			return l.upTo(len(l.buf)), l.err
		case l.err != nil:
			return nil, l.err // what came of the line is not the whole of it
		case l.tooLong():
			return nil, bufio.ErrTooLong
		}
		l.fill()
	}
}

// back has line, which came last, come again.
func (l *lines) back(line []byte) { l.at -= len(line); l.none = l.at }

func (l *lines) tooLong() bool { return int64(len(l.buf)-l.at) > l.limit }

// end is where in buf the next line ends; below 0: not in what was read.
func (l *lines) end() int {
	i := bytes.IndexByte(l.buf[l.none:], '\n')
	if i < 0 {
		l.none = len(l.buf)
		return i
	}
	return l.none + i + 1
}

func (l *lines) upTo(end int) []byte {
	line := l.buf[l.at:end]
	l.at, l.none = end, end
	return line
}

// fill reads once.
func (l *lines) fill() {
	if l.at > 0 {
		l.buf = l.buf[:copy(l.buf, l.buf[l.at:])]
		l.none, l.at = l.none-l.at, 0
	}
	l.buf = slices.Grow(l.buf, readAtOnce)
	n, err := l.from.Read(l.buf[len(l.buf):cap(l.buf)])
	l.buf, l.err = l.buf[:len(l.buf)+n], err
}
