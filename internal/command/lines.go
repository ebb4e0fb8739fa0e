package command

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Lines are read one after the other from what may be slow in giving them.
type lines struct {
	r    *bufio.Reader
	from io.Reader
}

func newLines(from io.Reader) *lines { return &lines{bufio.NewReaderSize(from, 64<<10), from} }

// wait tells whether the next line would have to be waited for.
func (l *lines) wait() bool {
	if n := l.r.Buffered(); n > 0 {
		if b, _ := l.r.Peek(n); bytes.IndexByte(b, '\n') >= 0 {
			return false
		}
	}
	slow, ok := l.from.(interface{ Waits() bool })
	return ok && slow.Waits()
}

// next is the next line, with its end, and with io.EOF what stands behind the
// last one. One of more than limit bytes is bufio.ErrTooLong.
func (l *lines) next(limit int64) ([]byte, error) {
	var line []byte
	for {
		piece, err := l.r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case err == nil, errors.Is(err, io.EOF):
			return line, err
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err // what came of the line is not the whole of it
		case int64(len(line)) > limit:
			return nil, bufio.ErrTooLong
		}
	}
}
