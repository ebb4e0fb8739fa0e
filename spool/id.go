package spool

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"strings"
	"sync"

	"github.com/oklog/ulid/v2"
)

// An ID names one handoff or one board entry: a ULID in lower case, 26 characters of
// Crockford's alphabet. Its order is that of minting within one process and
// about that of time between processes; neither age nor cause is ever read
// off it. Made by ParseID, System.NewID and the two computed forms only.
type ID string

const (
	idLen     = 26
	idTimeLen = 10 // of which the first ten are the time
	crockford = "0123456789abcdefghjkmnpqrstvwxyz"
)

// ParseID returns s as an ID; the error is ErrID.
func ParseID(s string) (ID, error) {
	if !isID(s) {
		return "", &Error{Op: "id", Name: s, Err: Because(ErrID, "an id is 26 characters of 0-9 and a-z without i, l, o, u")}
	}
	return ID(s), nil
}

func isID(s string) bool {
	// The first character holds the three high bits of 48: at most '7'.
	return len(s) == idLen && s[0] <= '7' && onlyCrockford(s)
}

// isCrockford is a table: a card has thousands of ids to check.
var isCrockford = func() (table [256]bool) {
	for i := range len(crockford) {
		table[crockford[i]] = true
	}
	return table
}()

func onlyCrockford(s string) bool {
	for i := range len(s) {
		if !isCrockford[s[i]] {
			return false
		}
	}
	return true
}

// An IDPart is what a person types for an id: all of it, or a prefix or
// suffix of at least four characters.
type IDPart string

const minPart = 4

// ParseIDPart returns s as an IDPart; the error is ErrID.
func ParseIDPart(s string) (IDPart, error) {
	if len(s) < minPart || len(s) > idLen || !onlyCrockford(s) || len(s) == idLen && !isID(s) {
		return "", &Error{Op: "id", Name: s, Err: Because(ErrID, "an id, or at least four characters of its beginning or end, is of 0-9 and a-z without i, l, o, u")}
	}
	return IDPart(s), nil
}

// Whole returns the id that p spells out, if it spells out one.
func (p IDPart) Whole() (ID, bool) { return ID(p), len(p) == idLen }

// Fits tells whether id begins or ends with p.
func (p IDPart) Fits(id ID) bool {
	return strings.HasPrefix(string(id), string(p)) || strings.HasSuffix(string(id), string(p))
}

// Conclusion is the id that the conclusion of task id has, on every host: two
// conclusions of one task meet at one name, and a waiter knows what it waits
// for.
func (id ID) Conclusion() ID { return id.computed("conclusion ") }

// Misroute is the id of the notice that tells the sender of id that it was
// found in a mailbox it was not addressed to.
func (id ID) Misroute() ID { return id.computed("misroute ") }

// computed is id's time part and 80 bits of SHA-256(purpose id).
func (id ID) computed(purpose string) ID {
	sum := sha256.Sum256([]byte(purpose + string(id)))
	var u ulid.ULID
	copy(u[6:], sum[:10])
	return id[:idTimeLen] + ID(strings.ToLower(u.String())[idTimeLen:])
}

// minter makes ids that rise within the process, even where the clock steps
// back. Most processes make one.
type minter struct {
	mu   sync.Mutex
	last ulid.ULID
}

func (m *minter) mint(sys *System) (ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := ulid.Timestamp(sys.Now())
	if !m.last.IsZero() && now <= m.last.Time() {
		risen, err := m.rise(sys.Rand)
		if err != nil {
			return "", err
		}
		if risen {
			return m.id(), nil
		}
		now = m.last.Time() + 1
	}
	next, err := ulid.New(now, sys.Rand)
	if err != nil {
		return "", err
	}
	m.last = next
	return m.id(), nil
}

const ulidTime = 6 // bytes of it, which 10 of entropy follow

// rise adds a random number to the entropy of the last id; false: it has no
// room for it.
func (m *minter) rise(random io.Reader) (bool, error) {
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return false, err
	}
	next, carry := m.last, uint64(binary.LittleEndian.Uint32(b[:]))+1
	for i := len(next) - 1; i >= ulidTime && carry > 0; i-- {
		carry += uint64(next[i])
		next[i] = byte(carry)
		carry >>= 8
	}
	if carry > 0 {
		return false, nil
	}
	m.last = next
	return true, nil
}

func (m *minter) id() ID { return ID(strings.ToLower(m.last.String())) }
