package command

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"
	"unicode/utf8"

	"xfer/internal/tool"
	"xfer/spool"
)

// Bodies on standard output: as bytes, as Quoted lines, or inside an object.
// All are streamed; a body never stands in memory.

// WriteBody hands out a body as it is; to a terminal without what a terminal
// would act upon.
func (c *Caller) WriteBody(r io.Reader) error {
	w := c.Out.Raw()
	if c.Out.Terminal() {
		whole := true
		err := EachLine(r, func(line []byte, ended bool) error {
			whole = ended
			return WriteLine(w, "", line, ended)
		})
		if err == nil && !whole { // what is said next stands on a line of its own
			_, err = io.WriteString(w, "\n")
		}
		return err
	}
	return copyTo(w, r, copyPiece)
}

// copyPiece is as much as a pipe holds.
const copyPiece = 64 << 10

// copyTo copies size bytes, or more or less, in pieces of at most copyPiece.
func copyTo(w io.Writer, r io.Reader, size int64) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, make([]byte, min(max(size, 1), copyPiece)))
	return err
}

// writeQuoted hands out header and body with every line behind "> ", so that
// nothing a peer wrote looks like what a tool says.
func (c *Caller) writeQuoted(f *spool.File) error {
	w := c.Out.Raw()
	return EachLine(f.Raw(), func(line []byte, ended bool) error {
		return WriteLine(w, "> ", line, true)
	})
}

// WriteLine writes a line of a body behind prefix, without control characters
// but tabs, and ends it where ended is set.
func WriteLine(w io.Writer, prefix string, line []byte, ended bool) error {
	text := prefix + strings.ReplaceAll(cleanKeepingTabs(string(line)), "\n", "")
	if ended {
		text += "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

func cleanKeepingTabs(s string) string {
	parts := strings.Split(s, "\t")
	for i := range parts {
		parts[i] = tool.Clean(parts[i])
	}
	return strings.Join(parts, "\t")
}

// EachLine calls do with each line of r, without its end. A line too long for
// the buffer comes in several, cut between characters.
func EachLine(r io.Reader, do func(line []byte, ended bool) error) error {
	buf := make([]byte, 0, 64<<10)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		for {
			i := bytes.IndexByte(buf, '\n')
			if i < 0 {
				break
			}
			if err := do(buf[:i], true); err != nil {
				return err
			}
			buf = buf[:copy(buf, buf[i+1:])]
		}
		if len(buf) == cap(buf) {
			whole := wholeRunes(buf)
			if err := do(buf[:whole], false); err != nil {
				return err
			}
			buf = buf[:copy(buf, buf[whole:])]
		}
		if err == io.EOF {
			if len(buf) > 0 {
				return do(buf, false)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// wholeRunes is how much of b ends with a whole character.
func wholeRunes(b []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		if at := len(b) - back; utf8.RuneStart(b[at]) {
			if !utf8.FullRune(b[at:]) && at > 0 {
				return at
			}
			break
		}
	}
	return len(b)
}

// writeObject hands out a record with the body in it: "body" where it is
// UTF-8, else "body_base64".
func (c *Caller) writeObject(record any, f *spool.File, isUTF8 bool) error {
	if err := c.addObject(record, f, isUTF8); err != nil {
		return err
	}
	return c.Out.Flush()
}

// addObject is writeObject up to the Flush.
func (c *Caller) addObject(record any, f *spool.File, isUTF8 bool) error {
	head, err := tool.JSON(record)
	if err != nil {
		return err
	}
	w := c.Out.Buffered()
	if _, err := w.Write(bytes.TrimSuffix(bytes.TrimSpace(head), []byte("}"))); err != nil {
		return err
	}
	key, body := `,"body":"`, io.Writer(&stringWriter{w: w})
	var closer io.Closer
	if !isUTF8 {
		key = `,"body_base64":"`
		enc := base64.NewEncoder(base64.StdEncoding, w)
		body, closer = enc, enc
	}
	if _, err := io.WriteString(w, key); err != nil {
		return err
	}
	if err := copyTo(body, f.Body(), f.Size); err != nil {
		return err
	}
	if closer != nil {
		if err := closer.Close(); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "\"}\n")
	return err
}

// stringWriter writes UTF-8 as the inside of a JSON string, escaped as
// tool.JSON does it, wherever the pieces are cut.
type stringWriter struct {
	w    io.Writer
	rest []byte
}

func (s *stringWriter) Write(p []byte) (int, error) {
	text := append(s.rest, p...)
	whole := wholeRunes(text)
	s.rest = append([]byte(nil), text[whole:]...)
	b, err := tool.JSON(string(text[:whole]))
	if err != nil {
		return 0, err
	}
	b = bytes.TrimSpace(b)
	if _, err := s.w.Write(b[1 : len(b)-1]); err != nil {
		return 0, err
	}
	return len(p), nil
}
