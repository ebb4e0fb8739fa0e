package spool

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"xfer/internal/durable"
)

// A segment remembers ids whose handoffs were let go: sorted records of 32
// bytes, synced before the handoffs are unlinked, and never changed. A
// mailbox's segments (past/HOST.YYYYMM.ULID.seg) travel with it, so that a new
// home knows what the old one handled; a sender's (local/ids/YYYYMM.ULID.seg)
// are this host's own.

// A Folded is what a segment remembers of a handoff.
type Folded struct {
	ID   ID
	Same [sameLen]byte // of SHA-256 over all that makes two handoffs the same
	Last Last
}

const (
	recordLen = 32
	idBytes   = 16
	sameLen   = 15
	segSuffix = ".seg"
	segMonth  = "200601"
)

// A Last is where a folded handoff stood last, and how its task ended if it
// was a conclusion.
type Last byte

// The last places; a conclusion's word is added to them.
const (
	lastSeen Last = 1 // a sender's link whose file went elsewhere: not handled
	lastDone Last = 2
	lastBad  Last = 3

	lastPlace   Last = 0x0f
	lastDoneEnd Last = 0x10
	lastBlocked Last = 0x20
	lastNeeds   Last = 0x30
	lastEnding  Last = 0xf0
)

func lastOf(p Place, e Ending) Last {
	l := lastDone
	if p == Bad {
		l = lastBad
	}
	switch e {
	case Done:
		l |= lastDoneEnd
	case Blocked:
		l |= lastBlocked
	case NeedsInput:
		l |= lastNeeds
	}
	return l
}

// Handled tells whether the handoff was finished or set aside, and was not
// merely seen to be sent.
func (l Last) Handled() bool { return l&lastPlace == lastDone || l&lastPlace == lastBad }

// Place is where it stood last.
func (l Last) Place() Place {
	if l&lastPlace == lastBad {
		return Bad
	}
	return Finished
}

// Ending is the word of a conclusion; empty of anything else.
func (l Last) Ending() Ending {
	switch l & lastEnding {
	case lastDoneEnd:
		return Done
	case lastBlocked:
		return Blocked
	case lastNeeds:
		return NeedsInput
	}
	return ""
}

// same is what two handoffs that are the same have in common, as a segment
// keeps it.
func (h *Header) same() (s [sameLen]byte) {
	sum := sha256.Sum256([]byte(h.sameness()))
	copy(s[:], sum[:])
	return s
}

func (f *Folded) encode(b []byte) []byte {
	u, _ := ulid.ParseStrict(string(f.ID)) // an ID is one
	b = append(b, u[:]...)
	b = append(b, f.Same[:]...)
	return append(b, byte(f.Last))
}

func decodeFolded(b []byte) Folded {
	var u ulid.ULID
	copy(u[:], b)
	f := Folded{ID: ID(strings.ToLower(u.String())), Last: Last(b[recordLen-1])}
	copy(f.Same[:], b[idBytes:])
	return f
}

// A record is a Folded as a segment holds it.
type record [recordLen]byte

func (f *Folded) record() (r record) {
	f.encode(r[:0])
	return r
}

func (r *record) last() byte { return r[recordLen-1] }

// byID is the order of a segment: by id; of several about one id the one that
// says most comes first.
func (r *record) byID(o *record) int {
	return cmp.Or(bytes.Compare(r[:idBytes], o[:idBytes]), cmp.Compare(o.last(), r.last()), bytes.Compare(o[idBytes:], r[idBytes:]))
}

// encodeSegment is the content of a segment with these records: sorted by id,
// of two about one id the one that says more.
func encodeSegment(records []Folded) []byte {
	all := make([]record, len(records))
	for i := range records {
		all[i] = records[i].record()
	}
	return encodeRecords(all)
}

// encodeRecords is encodeSegment for what is encoded already, and may put it in
// order.
func encodeRecords(all []record) []byte {
	slices.SortFunc(all, func(a, b record) int { return a.byID(&b) })
	all = slices.CompactFunc(all, func(a, b record) bool { return bytes.Equal(a[:idBytes], b[:idBytes]) })
	b := make([]byte, 0, len(all)*recordLen)
	for i := range all {
		b = append(b, all[i][:]...)
	}
	return b
}

// writeSegment makes a segment of a month of folding in dir that nobody has yet,
// durably.
func (s *Spool) writeSegment(dir, prefix string, month time.Time, content []byte) error {
	id, err := s.sys.NewID()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, prefix+month.UTC().Format(segMonth)+"."+string(id)+segSuffix)
	return s.fs.Replace(path, content, true)
}

// A segments is what the segments in one directory remember.
type segments struct{ dir string }

// find looks for id in every segment. What is not a segment, or is cut off, is
// passed over: a sync tool may still be bringing it.
func (g segments) find(id ID) (f Folded, found bool, err error) {
	return g.findAmong(id, func(name string) bool { return strings.HasSuffix(name, segSuffix) })
}

// findAmong is find for the segments that are meant.
func (g segments) findAmong(id ID, meant func(name string) bool) (f Folded, found bool, err error) {
	names, err := readNames(g.dir)
	if err != nil {
		return f, false, err
	}
	for _, name := range names {
		if !meant(name) {
			continue
		}
		r, here, err := findIn(filepath.Join(g.dir, name), id)
		if errors.Is(err, fs.ErrNotExist) || notRegular(err) {
			continue
		}
		if err != nil {
			return f, false, err
		}
		if here && (!found || r.Last > f.Last) {
			f, found = r, true
		}
	}
	return f, found, nil
}

// findIn is a binary search in one file.
func findIn(path string, id ID) (f Folded, found bool, err error) {
	file, info, err := durable.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return f, false, err
	}
	defer func() { _ = file.Close() }()
	want, err := ulid.ParseStrict(string(id))
	if err != nil || info.Size()%recordLen != 0 {
		return f, false, nil
	}
	var b [recordLen]byte
	low, high := int64(0), info.Size()/recordLen
	for low < high {
		middle := low + (high-low)/2
		if _, err := file.ReadAt(b[:], middle*recordLen); err != nil && err != io.EOF {
			return f, false, err
		}
		switch c := bytes.Compare(b[:idBytes], want[:]); {
		case c == 0:
			return decodeFolded(b[:]), true, nil
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return f, false, nil
}

// folded is what the mailbox's segments remember of id.
func (m *Mailbox) folded(id ID) (Folded, bool, error) { return segments{m.pastDir()}.find(id) }

// foldAnew remembers f for as long as if it was let go now. What this month's
// segments hold already is: an rsync brings the same copies back at every run,
// and each would cost a segment.
func (m *Mailbox) foldAnew(f Folded) error {
	now := m.s.sys.Now().UTC()
	this := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	have, found, err := segments{m.pastDir()}.findAmong(f.ID, func(name string) bool {
		month, ok := SegmentMonth(name)
		return ok && month.Equal(this)
	})
	if err != nil || found && have == f {
		return err
	}
	return m.Fold([]Folded{f})
}

// foldedHere is what this host's own segments remember of id.
func (s *Spool) foldedHere(id ID) (Folded, bool, error) { return segments{s.idsDir()}.find(id) }

// Fold remembers handoffs of this mailbox that are about to be let go. It is
// durable when it returns.
func (m *Mailbox) Fold(records []Folded) error {
	if len(records) == 0 {
		return nil
	}
	return m.fold(encodeSegment(records))
}

func (m *Mailbox) fold(content []byte) error {
	return m.s.retryMade(func() error {
		return m.s.writeSegment(m.pastDir(), string(m.s.host)+".", m.s.sys.Now(), content)
	}, m.s.peersDir(), m.dir, m.pastDir(), m.s.localDir(), m.s.tempDir())
}

// foldHere remembers ids in this host's own registry, durably.
func (s *Spool) foldHere(content []byte) error {
	return s.retryMade(func() error {
		return s.writeSegment(s.idsDir(), "", s.sys.Now(), content)
	}, s.localDir(), s.idsDir(), s.tempDir())
}

// conclusion is the header of a task's conclusion that was let go, as far as a
// segment remembers it.
func (f *Folded) conclusion(task *Header) *Header {
	return &Header{ID: f.ID, Kind: Conclusion, Ending: f.Last.Ending(), InReplyTo: task.ID, From: task.To, To: task.From}
}

// report says what became of a handoff that a segment remembers.
func (f *Folded) report(r Report) Report {
	r.Outcome = Delivered
	if f.Last.Place() == Bad {
		r.Outcome, r.Detail = Refused, "it was set aside, and its reason is forgotten"
	}
	return r
}

// errFoldedOtherwise is a conflict with a handoff that is no longer there.
func errFoldedOtherwise(id ID) error {
	return Because(ErrConflict, fmt.Sprintf("id %s was another handoff's, which is finished and forgotten", id))
}
