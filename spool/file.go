package spool

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"unicode/utf8"

	"xfer/internal/durable"
)

// A File is a handoff's file, open, with the header that it was found to have.
type File struct {
	Header
	f      *os.File
	info   fs.FileInfo
	bodyAt int64
	isUTF8 bool // as Verify found
}

// openFile opens the handoff at path, which must say that it is id. Its size
// is checked, its digest is not: see Verify. The errors are ErrIncomplete,
// ErrMalformed and those of the system; of a file that is not a regular one,
// durable.ErrNotRegular.
func openFile(path string, id ID) (*File, error) {
	f, info, err := durable.OpenRegular(path, os.O_RDWR)
	if readOnly(err) {
		f, info, err = durable.OpenRegular(path, os.O_RDONLY)
	}
	if err != nil {
		return nil, err
	}
	h, err := readHandoff(f, info, id)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return h, nil
}

// readOnly tells whether err is that of writing where there is only to be read:
// a snapshot, or a backup.
func readOnly(err error) bool {
	return errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES)
}

func readHandoff(f *os.File, info fs.FileInfo, id ID) (*File, error) {
	// Within its size, so that the end need not be read for.
	h, bodyAt, err := readHeader(io.NewSectionReader(f, 0, info.Size()))
	if err != nil {
		return nil, err
	}
	if h.ID != id {
		return nil, Because(ErrMalformed, "its Message-ID is that of another handoff, "+string(h.ID))
	}
	switch want := int64(bodyAt) + h.Size; {
	case info.Size() < want:
		return nil, Because(ErrIncomplete, fmt.Sprintf("it has %d of its %d bytes", info.Size(), want))
	case info.Size() > want:
		return nil, Because(ErrMalformed, fmt.Sprintf("it has %d bytes and says %d", info.Size(), want))
	}
	return &File{Header: *h, f: f, info: info, bodyAt: int64(bodyAt)}, nil
}

// firstRead is enough for nearly every header.
const firstRead = 4 << 10

func readHeader(f io.ReaderAt) (*Header, int, error) {
	first := int64(firstRead)
	if sized, ok := f.(interface{ Size() int64 }); ok {
		first = min(first, sized.Size())
	}
	buf := make([]byte, first)
	for {
		n, err := f.ReadAt(buf, 0)
		if err != nil && err != io.EOF {
			return nil, 0, err
		}
		if len(buf) == MaxHeader || n < len(buf) || bytes.Contains(buf, []byte("\n\n")) {
			return parseHeader(buf[:n])
		}
		buf = make([]byte, MaxHeader)
	}
}

// Close gives the file up; a claim on it ends.
func (h *File) Close() error { return h.f.Close() }

// Body is the body, from its beginning.
func (h *File) Body() *io.SectionReader { return io.NewSectionReader(h.f, h.bodyAt, h.Size) }

// RawHeader is the header as it stands on disk, blank line included.
func (h *File) RawHeader() *io.SectionReader { return io.NewSectionReader(h.f, 0, h.bodyAt) }

// Raw is the file as it stands on disk.
func (h *File) Raw() *io.SectionReader { return io.NewSectionReader(h.f, 0, h.bodyAt+h.Size) }

// IsUTF8 tells whether the body is UTF-8, once Verify has read it.
func (h *File) IsUTF8() bool { return h.isUTF8 }

func digestOf(r io.Reader) (d Digest, err error) {
	sum := sha256.New()
	_, err = io.Copy(sum, r)
	copy(d[:], sum.Sum(nil))
	return d, err
}

const verifyPiece = 32 << 10

// Verify reads the whole body, once, and says whether it is UTF-8. The error is
// ErrIncomplete when the body does not have the digest that the header says:
// a copying tool may still be filling it in.
func (h *File) Verify() (isUTF8 bool, err error) {
	sum := sha256.New()
	text := &utf8Checker{ok: true}
	piece := make([]byte, min(max(h.Size, 1), verifyPiece))
	if _, err := io.CopyBuffer(io.MultiWriter(sum, text), struct{ io.Reader }{h.Body()}, piece); err != nil {
		return false, err
	}
	if !bytes.Equal(sum.Sum(nil), h.Digest[:]) {
		return false, Because(ErrIncomplete, "its body does not have the digest that it says")
	}
	h.isUTF8 = text.done()
	return h.isUTF8, nil
}

// utf8Checker tells whether what was written to it is UTF-8, wherever the
// pieces were cut.
type utf8Checker struct {
	ok   bool
	rest []byte // the beginning of a character that was cut
}

func (u *utf8Checker) Write(p []byte) (int, error) {
	n := len(p)
	if !u.ok {
		return n, nil
	}
	if len(u.rest) > 0 {
		p = append(u.rest, p...)
	}
	for len(p) > 0 {
		if p[0] < utf8.RuneSelf {
			p = p[1:]
			continue
		}
		r, size := utf8.DecodeRune(p)
		if r == utf8.RuneError && size == 1 {
			u.ok = !utf8.FullRune(p)
			break
		}
		p = p[size:]
	}
	u.rest = append([]byte(nil), p...)
	return n, nil
}

func (u *utf8Checker) done() bool { return u.ok && len(u.rest) == 0 }

// notRegular tells whether err says that a name is not that of a regular file.
func notRegular(err error) bool { return errors.Is(err, durable.ErrNotRegular) }
