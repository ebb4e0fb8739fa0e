package spool

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"xfer/internal/durable"
)

// Setting aside: only a whole handoff takes its id into bad/ (bad/ID). Anything
// else goes to bad/ID.WHY-DIGEST8, says nothing about the id and never counts
// as handled. Each has its reason beside it.

// A why is the word under which something that is no whole handoff is set aside.
type why string

const (
	whyMalformed why = "malformed"
	whyDiffers   why = "differs"
	whyMisnamed  why = "misnamed"
)

const reasonSuffix = ".reason"

// isAside tells whether file is a name that setting aside gives.
func isAside(file string) bool {
	rest, _ := strings.CutSuffix(file, reasonSuffix)
	if isID(rest) {
		return true
	}
	if len(rest) < idLen+1 || !isID(rest[:idLen]) || rest[idLen] != '.' {
		return false
	}
	word, digest, ok := strings.Cut(rest[idLen+1:], "-")
	return ok && word != "" && len(digest) == 8
}

const maxReason = 8 << 10

// reason is the reason beside what was set aside under id.
func (m *Mailbox) reason(id ID) string {
	b, err := durable.ReadRegular(m.file(Bad, id)+reasonSuffix, maxReason)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// setAsideWhole moves a whole handoff, whose lock is held, to bad/ID. The
// reason is there before it is.
func (m *Mailbox) setAsideWhole(c *Claim, reason string) error {
	return m.retry(func() error {
		if err := m.s.fs.Replace(m.file(Bad, c.ID)+reasonSuffix, []byte(reason+"\n"), false); err != nil {
			return err
		}
		return c.move(Bad)
	})
}

// setAside moves the file that f has open and whose lock is held, named e, to
// bad/ID.WHY-DIGEST8. What lies there already under that name has the same
// bytes, so that the file itself goes.
func (m *Mailbox) setAside(e entry, f *os.File, w why, reason string) (to string, err error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, 1<<62)); err != nil {
		return "", err
	}
	to = string(e.id) + "." + string(w) + "-" + hex.EncodeToString(sum.Sum(nil))[:8]
	path := filepath.Join(m.placeDir(Bad), to)
	err = m.retry(func() error {
		if err := m.s.fs.Replace(path+reasonSuffix, []byte(reason+"\n"), false); err != nil {
			return err
		}
		return durable.Publish(m.path(e), path)
	})
	if errors.Is(err, fs.ErrExist) {
		err = durable.Remove(m.path(e))
	}
	if err != nil {
		return "", err
	}
	m.log(event{Event: "set aside", ID: e.id, Place: e.place, Detail: string(w)})
	return to, m.syncPlace(Bad)
}
