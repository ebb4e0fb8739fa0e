package tool

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// A Record is one line of an answer.
type Record interface {
	// Fields are the text columns, in their order: strings, numbers,
	// time.Time, or whatever prints itself. With --json the record itself is
	// marshalled; its times must be in UTC by then.
	Fields() []any
}

// An Output is the answer on standard output: TAB-separated lines, JSON lines
// with --json, aligned columns with ages on a terminal. It is buffered until
// Flush. Every error wraps ErrOutput, and the first one is the answer to all
// later calls. It may be used from several goroutines.
type Output struct {
	file *os.File
	talk *Talk
	json bool
	now  func() time.Time
	tty  func() bool

	mu   sync.Mutex
	buf  []byte
	page table
	err  error
}

const (
	bufferSize = 32 << 10
	pageRows   = 256
)

func newOutput(pr *Process, talk *Talk, json bool) *Output {
	return &Output{
		file: pr.Stdout,
		talk: talk,
		json: json,
		now:  pr.System.Now,
		tty:  sync.OnceValue(func() bool { return isTerminal(pr.Stdout) }),
	}
}

// JSON tells whether the answer is to be JSON lines.
func (o *Output) JSON() bool { return o.json }

// Terminal tells whether somebody reads the answer from a terminal.
func (o *Output) Terminal() bool { return o.tty() }

// Write adds a record. It is on its way only after Flush.
func (o *Output) Write(r Record) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return o.err
	case o.json:
		return o.object(r)
	case o.tty():
		o.page.add(r.Fields(), o.now())
		if len(o.page.rows) >= pageRows {
			o.buf = o.page.appendTo(o.buf)
		}
	default:
		o.buf = appendRow(o.buf, r.Fields())
	}
	return o.spill()
}

func (o *Output) object(v any) error {
	line, err := JSON(v)
	if err != nil {
		return err
	}
	o.buf = append(o.buf, line...)
	return o.spill()
}

func (o *Output) spill() error {
	if len(o.buf) < bufferSize {
		return nil
	}
	return o.drain()
}

// Flush hands out what was written: after nil, whoever reads standard output
// has it, or the kernel holds it for them.
func (o *Output) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.flush()
}

func (o *Output) flush() error {
	o.buf = o.page.appendTo(o.buf)
	return o.drain()
}

func (o *Output) drain() error {
	if len(o.buf) > 0 {
		_, _ = o.put(o.buf)
		o.buf = o.buf[:0]
	}
	return o.err
}

func (o *Output) put(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.file.Write(p)
	if err != nil {
		o.err = &outputError{cause(err)}
	}
	return n, o.err
}

// Raw writes bytes as they are, unbuffered, after whatever was written before:
// for bodies.
func (o *Output) Raw() io.Writer { return raw{o} }

type raw struct{ o *Output }

func (r raw) Write(p []byte) (int, error) {
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	if err := r.o.flush(); err != nil {
		return 0, err
	}
	return r.o.put(p)
}

// Buffered adds bytes as they are; they are on their way only after Flush.
func (o *Output) Buffered() io.Writer { return buffered{o} }

type buffered struct{ o *Output }

func (b buffered) Write(p []byte) (int, error) {
	b.o.mu.Lock()
	defer b.o.mu.Unlock()
	if b.o.err != nil {
		return 0, b.o.err
	}
	b.o.buf = append(b.o.buf, p...)
	return len(p), b.o.spill()
}

// truncation is the last object of a list that was cut short.
type truncation struct {
	Truncated bool   `json:"truncated"`
	Reason    string `json:"reason"`
	Resume    string `json:"resume,omitempty"`
}

// Truncated says that the list was cut short, why ("after 100"), and the token
// that goes on with it where there is one: on standard error, under -q too;
// with --json as a last object of the list.
func (o *Output) Truncated(reason, resume string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	if o.json {
		return o.object(truncation{true, reason, resume})
	}
	if err := o.flush(); err != nil {
		return err
	}
	if resume != "" {
		o.talk.Always("list cut short %s: '--resume %s' goes on", reason, resume)
	} else {
		o.talk.Always("list cut short %s", reason)
	}
	return nil
}

type outputError struct{ err error }

func (e *outputError) Error() string   { return "write to standard output: " + e.err.Error() }
func (e *outputError) Unwrap() []error { return []error{ErrOutput, e.err} }

// cause is what went wrong without the path, which the message has already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
