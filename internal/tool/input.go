package tool

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"xfer/spool"
)

// Body opens what the body comes from: the file of -f ("-" is standard input),
// else standard input, which is not touched where -f names a file. Reads end
// with the context's error when Call.Ctx ends. Closing it leaves standard
// input open. The error is ErrNoFile, ErrUsage (a terminal, and no -f), or a
// system error with the path.
func (c *Call) Body() (io.ReadCloser, error) {
	path := c.String("file")
	if c.IsSet("file") && path == "" {
		return nil, flagError("--file", "needs a value")
	}
	if c.IsSet("file") && path != "-" {
		return c.openBody(path)
	}
	in := c.Process.Stdin
	if !c.IsSet("file") && isTerminal(in) {
		return nil, WithHint(Usage("the body is read from standard input, which is a terminal"),
			"give -f FILE, pipe it in, or type it after -f -")
	}
	b := &body{ctx: c.Ctx, op: "read standard input", file: in}
	if info, err := in.Stat(); err == nil && info.Mode().IsRegular() {
		return b, nil
	}
	return c.patient(b, nil, "on standard input"), nil
}

func (c *Call) openBody(path string) (io.ReadCloser, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, FileError(path, err)
	}
	open := func() (*os.File, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, FileError(path, err)
		}
		return f, nil
	}
	b := &body{ctx: c.Ctx, op: "read", name: path}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return nil, FileError(path, syscall.EISDIR)
	case mode&fs.ModeSocket != 0:
		return nil, &spool.Error{Op: "open", Name: path, Err: spool.Because(ErrNoFile, "is a socket")}
	case mode.IsRegular():
		if b.file, err = open(); err != nil {
			return nil, err
		}
		b.owned = true
		return b, nil
	}
	// Opening a FIFO waits for its writer, as long as that may take.
	return c.patient(b, open, "from "+strconv.Quote(path)), nil
}

// FileError names a file that cannot be opened: ErrNoFile for what no
// permission would mend.
func FileError(path string, err error) error {
	err = cause(err)
	switch err { //nolint:errorlint // the errno itself
	case syscall.ENOENT:
		err = spool.Because(ErrNoFile, "no such file")
	case syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.ENXIO:
		err = spool.Because(ErrNoFile, err.Error())
	}
	return &spool.Error{Op: "open", Name: path, Err: err}
}

// A body is a file whose reads never wait.
type body struct {
	ctx      context.Context
	op, name string // for errors
	file     *os.File
	owned    bool // Close closes it
}

func (b *body) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.file.Read(p)
	return n, b.wrap(err)
}

func (b *body) wrap(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &spool.Error{Op: b.op, Name: b.name, Err: cause(err)}
}

func (b *body) Close() error {
	if b.owned {
		return b.file.Close()
	}
	return nil
}

const (
	patience  = 2 * time.Second
	chunkSize = 64 << 10
)

// A patientBody is read by a goroutine of its own, since a read that waits
// cannot be called off: it is given up when the context ends.
type patientBody struct {
	*body
	tell func()
	wait func(time.Duration) <-chan time.Time

	chunks chan chunk
	spare  chan []byte
	closed chan struct{}
	close  func()

	started bool
	last    chunk
	left    []byte // of last
}

type chunk struct {
	data []byte
	err  error // after data
}

// patient reads b, from what open returns where b has no file yet, and says
// what it waits for when nothing has come for two seconds.
func (c *Call) patient(b *body, open func() (*os.File, error), from string) *patientBody {
	c.CatchSignals()
	p := &patientBody{
		body:   b,
		tell:   func() { c.Err.Say("waiting for the body %s", from) },
		wait:   c.Process.after,
		chunks: make(chan chunk),
		spare:  make(chan []byte, 2),
		closed: make(chan struct{}),
	}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	p.spare <- make([]byte, chunkSize)
	p.spare <- make([]byte, chunkSize)
	go p.pump(open)
	return p
}

func (p *patientBody) pump(open func() (*os.File, error)) {
	file := p.file
	if open != nil {
		f, err := open()
		if err != nil {
			p.hand(chunk{err: err})
			return
		}
		defer f.Close()
		file = f
	}
	for {
		select {
		case buf := <-p.spare:
			n, err := file.Read(buf)
			if !p.hand(chunk{buf[:n], p.wrap(err)}) || err != nil {
				return
			}
		case <-p.closed:
			return
		}
	}
}

func (p *patientBody) hand(c chunk) bool {
	select {
	case p.chunks <- c:
		return true
	case <-p.closed:
		return false
	}
}

func (p *patientBody) Read(q []byte) (int, error) {
	for len(p.left) == 0 {
		if p.last.err != nil {
			return 0, p.last.err
		}
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(q, p.left)
	p.left = p.left[n:]
	return n, nil
}

func (p *patientBody) next() error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	p.giveBack()
	var late <-chan time.Time
	if !p.started {
		late = p.wait(patience)
	}
	for {
		select {
		case p.last = <-p.chunks:
			p.started = true
			p.left = p.last.data
			return nil
		case <-late:
			p.tell()
			late = nil
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
	}
}

// giveBack lets the goroutine fill the buffer of the last chunk again.
func (p *patientBody) giveBack() {
	if p.last.data != nil {
		p.spare <- p.last.data[:chunkSize]
		p.last.data = nil
	}
}

// Waits tells whether a Read would wait for more to come.
func (p *patientBody) Waits() bool {
	if len(p.left) > 0 || p.last.err != nil {
		return false
	}
	p.giveBack()
	select {
	case p.last = <-p.chunks:
		p.started, p.left = true, p.last.data
		return false
	default:
		return true
	}
}

// Close lets go of the reading goroutine; one that waits in a read ends when
// that read does.
func (p *patientBody) Close() error {
	p.close()
	return nil
}
