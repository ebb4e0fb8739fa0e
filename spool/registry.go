package spool

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"xfer/internal/durable"
)

// The registry of what was sent from here: local/ids/XX/ID is a second name of
// the handoff's own file, made before it is published. That the name is taken
// answers "was here"; the file's header says what it was. Where the
// filesystem has no hard links, a record stands in: one line that names the
// temp file, then a copy of the header.

// A registered is what the registry holds of an id.
type registered struct {
	Header
	info fs.FileInfo // of the link, which is the handoff's own file
	temp string      // of a record: the temp file, below the mailbox
}

const recordWord = "temp "

// lookup reads the registry's entry of id; fs.ErrNotExist where there is none.
// An empty entry counts as absent: a crash left it.
func (s *Spool) lookup(id ID) (*registered, error) {
	f, info, err := durable.OpenRegular(s.idFile(id), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info.Size() == 0 {
		return nil, fs.ErrNotExist
	}
	r := &registered{info: info}
	var source io.ReaderAt = f
	first := make([]byte, 256)
	n, err := f.ReadAt(first, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if rest, ok := bytes.CutPrefix(first[:n], []byte(recordWord)); ok {
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		r.info, r.temp = nil, string(line)
		if file := string(line); filepath.Base(file) != file || !strings.HasPrefix(file, string(id)+".") {
			return nil, Because(ErrMalformed, "the registry's record of it names no temp file")
		}
		source = io.NewSectionReader(f, int64(len(recordWord)+len(line)+1), info.Size())
	}
	h, _, err := readHeader(source)
	if err != nil {
		return nil, err
	}
	if h.ID != id {
		return nil, Because(ErrMalformed, "the registry has another handoff under its id")
	}
	r.Header = *h
	return r, nil
}

// original is ErrMalformed where this host sent another handoff under the id of
// f: a copying tool has put one spool's file over another's.
func (s *Spool) original(f *File) error {
	info, err := os.Lstat(s.idFile(f.ID))
	if errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(info, f.info) {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := s.lookup(f.ID)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrMalformed) || errors.Is(err, ErrIncomplete) {
		return nil
	}
	if err != nil || r.Same(&f.Header) {
		return err
	}
	return Because(ErrMalformed, "altered: another handoff was sent under its id from here")
}

// register enters the handoff whose file is at temp. The error is fs.ErrExist
// when the id is there already.
func (s *Spool) register(h *Header, temp string) error {
	err := s.enter(h, temp)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, lerr := os.Lstat(s.idFile(h.ID)); lerr != nil || !info.Mode().IsRegular() || info.Size() > 0 {
		return err
	}
	if err := durable.Remove(s.idFile(h.ID)); err != nil {
		return err
	}
	return s.enter(h, temp)
}

func (s *Spool) enter(h *Header, temp string) error {
	shard := s.shardDir(h.ID)
	err := again(func() error { return durable.Link(temp, s.idFile(h.ID)) }, func() error {
		err := s.fs.Mkdir(shard) // mostly it is the only one that is missing
		if errors.Is(err, fs.ErrNotExist) {
			err = s.mkdirs(s.localDir(), s.idsDir(), shard)
		}
		return err
	})
	if !errors.Is(err, durable.ErrNoLinks) {
		return err
	}
	record := append([]byte(recordWord+filepath.Base(temp)+"\n"), h.encode()...)
	put := func() error { return s.fs.Put(s.idFile(h.ID), record) }
	return s.retryMade(put, s.localDir(), s.tempDir(), s.idsDir(), shard)
}

// unregister takes back what register entered.
func (s *Spool) unregister(id ID) error { return durable.Remove(s.idFile(id)) }

// orphan is the temp file of a handoff that was registered and never
// published; empty where there is none.
func (m *Mailbox) orphan(r *registered) (string, error) {
	if r.temp != "" {
		path := filepath.Join(m.tmpDir(), r.temp)
		_, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return path, err
	}
	names, err := readNames(m.tmpDir())
	if err != nil {
		return "", err
	}
	slices.Sort(names) // the same way in every run: a fault is then reproducible
	for _, name := range names {
		if !strings.HasPrefix(name, string(r.ID)+".") {
			continue
		}
		path := filepath.Join(m.tmpDir(), name)
		info, err := os.Lstat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if err == nil && os.SameFile(info, r.info) {
			return path, nil
		}
	}
	return "", nil
}
