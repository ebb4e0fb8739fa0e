package spool

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oklog/ulid/v2"

	"xfer/internal/durable"
)

// A span is the least and the greatest id that a segment remembers. What is
// taken is nearly always younger than all that was let go: a look at the spans
// spares a search of every segment for each id.
type span struct{ first, last [idBytes]byte }

// spans are those of every segment, as find would search them.
func (g segments) spans() ([]span, error) {
	names, err := readNames(g.dir)
	if err != nil {
		return nil, err
	}
	var all []span
	for _, name := range names {
		if !strings.HasSuffix(name, segSuffix) {
			continue
		}
		s, some, err := spanOf(filepath.Join(g.dir, name))
		if errors.Is(err, fs.ErrNotExist) || notRegular(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if some {
			all = append(all, s)
		}
	}
	return all, nil
}

// spanOf is the span of one file, if it has one.
func spanOf(path string) (s span, some bool, err error) {
	f, info, err := durable.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return s, false, err
	}
	defer func() { _ = f.Close() }()
	if info.Size() == 0 || info.Size()%recordLen != 0 {
		return s, false, nil
	}
	if _, err = f.ReadAt(s.first[:], 0); err == nil {
		_, err = f.ReadAt(s.last[:], info.Size()-recordLen)
	}
	return s, err == nil, err
}

// cover tells whether id may be in one of the segments.
func cover(spans []span, id ID) bool {
	u, err := ulid.ParseStrict(string(id))
	if err != nil {
		return true
	}
	for i := range spans {
		if bytes.Compare(spans[i].first[:], u[:]) <= 0 && bytes.Compare(u[:], spans[i].last[:]) <= 0 {
			return true
		}
	}
	return false
}
