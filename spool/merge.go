package spool

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"xfer/internal/durable"
)

// Merging segments: this host's own of one month of folding become one, so that
// a look-up opens few. What a merge holds goes at a later run only: a deletion
// can travel before the file that replaces what was deleted.

// maxSegment is the largest segment that is read at once, in bytes: sixteen
// million handoffs of one mailbox in a month.
const maxSegment = 512 << 20

// SegmentMonth is the month of folding that a segment's name says, at its
// beginning; ok is false where the name is no segment's.
func SegmentMonth(name string) (month time.Time, ok bool) {
	parts := strings.Split(name, ".")
	n := len(parts)
	if n < 3 || parts[n-1] != strings.TrimPrefix(segSuffix, ".") || !isID(parts[n-2]) {
		return month, false
	}
	month, err := time.Parse(segMonth, parts[n-3])
	return month, err == nil
}

// A part is one segment of a month.
type part struct {
	name    string
	b       []byte
	settled bool // it has had time to travel everywhere
}

// MergePast merges this host's own segments of a mailbox, those of each month
// for themselves, and removes what has been merged for as long as settled. did
// says what was done; it is empty where there was nothing to do.
func (r *Reaping) MergePast(peer Name, settled time.Duration) (did string, err error) {
	m, err := r.s.Mailbox(peer)
	if err != nil {
		return "", err
	}
	return r.merge(m.pastDir(), string(r.s.host)+".", settled)
}

// MergeMemory is MergePast for the segments of this host's own registry.
func (r *Reaping) MergeMemory(settled time.Duration) (did string, err error) {
	return r.merge(r.s.idsDir(), "", settled)
}

func (r *Reaping) merge(dir, prefix string, settled time.Duration) (did string, err error) {
	names, err := readNames(dir)
	if err != nil {
		return "", err
	}
	months := make(map[time.Time][]string)
	for _, name := range names {
		own, mine := strings.CutPrefix(name, prefix)
		month, ok := SegmentMonth(own)
		if ok && mine && strings.Count(own, ".") == 2 {
			months[month] = append(months[month], name)
		}
	}
	var done []string
	for month, names := range months {
		some, err := r.mergeMonth(dir, prefix, month, names, settled)
		if some != "" {
			done = append(done, some)
		}
		if err != nil {
			return "", err
		}
	}
	slices.Sort(done)
	return strings.Join(slices.Compact(done), ", "), nil
}

func (r *Reaping) mergeMonth(dir, prefix string, month time.Time, names []string, settled time.Duration) (did string, err error) {
	if len(names) < 2 {
		return "", nil
	}
	parts, err := r.parts(dir, names, settled)
	if err != nil {
		return "", err
	}
	var whole, old []part // those that no other holds; of the settled ones likewise
	for _, p := range parts {
		if p.settled {
			old = addPart(old, p)
		}
		whole = addPart(whole, p)
	}
	for _, p := range parts {
		if isOneOf(p, old) || !held(p, old) {
			continue
		}
		if err := durable.Remove(filepath.Join(dir, p.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return did, err
		}
		did = "removed segments that a merged one holds"
	}
	if len(whole) < 2 {
		return did, nil
	}
	var all []record
	for _, p := range whole {
		all = append(all, records(p.b)...)
	}
	return "merged", r.s.writeSegment(dir, prefix, month, encodeRecords(all))
}

// parts reads segments, the largest first and of equals the oldest. What is cut
// off is none.
func (r *Reaping) parts(dir string, names []string, settled time.Duration) ([]part, error) {
	var parts []part
	for _, name := range names {
		path := filepath.Join(dir, name)
		b, err := durable.ReadRegular(path, maxSegment)
		if errors.Is(err, fs.ErrNotExist) || notRegular(err) || err == nil && len(b)%recordLen != 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		parts = append(parts, part{name, b, r.s.sys.Now().Sub(newest(info)) >= settled})
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(len(b.b), len(a.b)), cmp.Compare(a.name, b.name))
	})
	return parts, nil
}

// addPart adds p to all, none of which holds another.
func addPart(all []part, p part) []part {
	if held(p, all) {
		return all
	}
	all = slices.DeleteFunc(all, func(o part) bool { return holds(p.b, o.b) })
	return append(all, p)
}

func isOneOf(p part, all []part) bool {
	return slices.ContainsFunc(all, func(o part) bool { return o.name == p.name })
}

// held tells whether one of all holds whatever p does.
func held(p part, all []part) bool {
	return slices.ContainsFunc(all, func(o part) bool { return o.name != p.name && holds(o.b, p.b) })
}

// holds tells whether whole says of each id in some what some says, or more.
func holds(whole, some []byte) bool {
	for ; len(some) > 0; some = some[recordLen:] {
		want := record(some[:recordLen])
		for len(whole) > 0 && bytes.Compare(whole[:idBytes], want[:idBytes]) < 0 {
			whole = whole[recordLen:]
		}
		if len(whole) == 0 {
			return false
		}
		have := record(whole[:recordLen])
		if !bytes.Equal(have[:idBytes], want[:idBytes]) || have.byID(&want) > 0 {
			return false
		}
	}
	return true
}

func records(b []byte) []record {
	all := make([]record, len(b)/recordLen)
	for i := range all {
		all[i] = record(b[i*recordLen : (i+1)*recordLen])
	}
	return all
}
