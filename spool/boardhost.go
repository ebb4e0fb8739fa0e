package spool

import (
	"context"
	"crypto/sha256"
	"io"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"xfer/internal/durable"
)

// A BoardHost is what package board needs of a spool: where its files lie, and
// how they are locked and written.
type BoardHost struct{ s *Spool }

// BoardHost is s to package board.
func (s *Spool) BoardHost() BoardHost { return BoardHost{s} }

// Dir is where the cards lie.
func (h BoardHost) Dir() string { return h.s.boardDir() }

// File is the path of a name in Dir.
func (h BoardHost) File(name string) string { return h.s.boardFile(name) }

// SeenDir is where the cursors lie.
func (h BoardHost) SeenDir() string { return h.s.seenDir() }

// SeenFile is the path of a name in SeenDir.
func (h BoardHost) SeenFile(name string) string { return h.s.seenFile(name) }

// TempDir is where files are written before they get their place.
func (h BoardHost) TempDir() string { return h.s.tempDir() }

// TempFile is the path of a name in TempDir.
func (h BoardHost) TempFile(name string) string { return h.s.tempFile(name) }

// FS writes files with the spool's modes.
func (h BoardHost) FS() *durable.FS { return &h.s.fs }

// Suffix is what makes the name of a temp file its writer's own: hex digits.
func (h BoardHost) Suffix() (string, error) { return h.s.suffix() }

// Now is the spool's clock.
func (h BoardHost) Now() time.Time { return h.s.sys.Now() }

// Rand is the spool's random source.
func (h BoardHost) Rand() io.Reader { return h.s.sys.Rand }

// NewID mints an id.
func (h BoardHost) NewID() (ID, error) { return h.s.sys.NewID() }

// Lock takes a lock file of this host, and waits for at most wait (ErrLocked).
func (h BoardHost) Lock(ctx context.Context, name string, wait time.Duration) (unlock func(), err error) {
	path := h.s.lockFile(name)
	return h.s.lockBy(path, func() (func(), error) { return h.s.fs.QueueFile(ctx, path, wait) })
}

// Retry makes the directories that step found missing, and does step again.
func (h BoardHost) Retry(step func() error) error {
	return h.s.retryMade(step, h.s.boardDir(), h.s.localDir(), h.s.tempDir())
}

// RetrySeen is Retry for a step that writes into SeenDir.
func (h BoardHost) RetrySeen(step func() error) error {
	return h.s.retryMade(step, h.s.boardDir(), h.s.seenDir(), h.s.localDir(), h.s.tempDir())
}

// Watch watches the cards: names that come, and files that are written to in
// place, as some editors do.
func (h BoardHost) Watch() *Watch {
	w := watch(h.s.boardDir())
	w.writes = true
	return w
}

// Keyed is an id with the time of id, whose other part is computed from key: a
// repeated append finds the first one by it.
func (id ID) Keyed(key string) ID {
	sum := sha256.Sum256([]byte("key " + key))
	var u ulid.ULID
	copy(u[6:], sum[:10])
	return id[:idTimeLen] + ID(strings.ToLower(u.String())[idTimeLen:])
}

// SameKey tells whether two ids were computed from one key, at whatever times.
func (id ID) SameKey(other ID) bool { return id[idTimeLen:] == other[idTimeLen:] }
