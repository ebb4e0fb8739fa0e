package spool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"xfer/internal/durable"
)

// A key is an idempotency key of the caller's own: it counts per sender and
// peer. local/ids/key/HASH is a one-line file with the id that was sent under
// it, made before that id is registered; it goes when that id's memory
// expires. One that names an id of which nothing is known was left by a crash
// before the registration, and is given to the next id.

func (s *Spool) keyDir() string { return filepath.Join(s.idsDir(), "key") }

// keyLock is the lock of a key: the first characters of its hash spread the locks
// as an id's last do.
func (s *Spool) keyLock(hash string) string {
	return filepath.Join(s.lockDir(), "key."+hash[:min(2, len(hash))])
}

func keyHash(from, to Name, key string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "key\x00%s\x00%s\x00%s", from, to, key))
	return hex.EncodeToString(sum[:])
}

// commitKeyed is commit under w's key: the first handoff that was sent with it
// is answered for, if it is the same; else the error is ErrConflict.
func (w *Delivery) commitKeyed(ctx context.Context) (Report, error) {
	hash := keyHash(w.h.From, w.h.To, w.key)
	unlock, err := w.s.lock(ctx, w.s.keyLock(hash), lockWait)
	if err != nil {
		return w.nothing(), err
	}
	defer unlock()
	path := filepath.Join(w.s.keyDir(), hash)
	first, err := w.s.keyed(path)
	if err != nil {
		return w.nothing(), err
	}
	if w.keyed && first == w.h.ID {
		if w.shut != nil { // since the key was placed
			_ = durable.Remove(path)
			return w.nothing(), w.shut
		}
		return w.registerKeyed(ctx, path)
	}
	if first != "" {
		r, err := w.sentBefore(ctx, first)
		if !errors.Is(err, fs.ErrNotExist) {
			return r, err
		}
	}
	if w.shut != nil {
		return w.nothing(), w.shut
	}
	// Durable before the handoff is: else a power cut could leave the handoff
	// without its key, and the next call would send it twice.
	if err := w.s.retryMade(func() error {
		return w.s.fs.Replace(path, []byte(string(w.h.ID)+"\n"), true)
	}, w.s.localDir(), w.s.tempDir(), w.s.idsDir(), w.s.keyDir()); err != nil {
		return w.nothing(), err
	}
	return w.registerKeyed(ctx, path)
}

// registerKeyed is register once the key's file, at path, names w's id.
func (w *Delivery) registerKeyed(ctx context.Context, path string) (Report, error) {
	r, err := w.register(ctx)
	if r.Outcome == NotDelivered {
		_ = durable.Remove(path)
	}
	return r, err
}

// placeKey gives w's key to its id where nobody has it, and is the path of the
// file that says so, which is not synced; empty where somebody has it.
func (w *Delivery) placeKey(ctx context.Context) (string, error) {
	hash := keyHash(w.h.From, w.h.To, w.key)
	unlock, err := w.s.lock(ctx, w.s.keyLock(hash), lockWait)
	if err != nil {
		return "", err
	}
	defer unlock()
	path := filepath.Join(w.s.keyDir(), hash)
	err = w.s.retryMade(func() error {
		return w.s.fs.Put(path, []byte(string(w.h.ID)+"\n"))
	}, w.s.localDir(), w.s.tempDir(), w.s.idsDir(), w.s.keyDir())
	switch {
	case errors.Is(err, fs.ErrExist):
		return "", nil
	case err != nil:
		return "", err
	}
	return path, nil
}

// takeBackKey undoes placeKey, unless the key has gone to another id.
func (w *Delivery) takeBackKey(ctx context.Context, path string) {
	unlock, err := w.s.lock(ctx, w.s.keyLock(filepath.Base(path)), lockWait)
	if err != nil {
		return // it names an id of which nothing is known, and is given to the next one
	}
	defer unlock()
	if id, err := w.s.keyed(path); err == nil && id == w.h.ID {
		_ = durable.Remove(path)
	}
}

// keyed is the id that a key's file names; empty where there is none.
func (s *Spool) keyed(path string) (ID, error) {
	b, err := durable.ReadRegular(path, 64)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if text := strings.TrimSpace(string(b)); isID(text) {
		return ID(text), nil
	}
	return "", nil // cut off by a crash: nothing was registered after it
}

// sentBefore answers for the id first, which may have been sent before;
// fs.ErrNotExist where nothing is known of it, and where the peer lets nothing
// new in, why.
func (w *Delivery) sentBefore(ctx context.Context, first ID) (Report, error) {
	unlock, err := w.s.lock(ctx, w.s.idLock(first), lockWait)
	if err != nil {
		return w.nothing(), err
	}
	defer unlock()
	r, err := w.answerFor(first)
	if w.shut != nil && errors.Is(err, fs.ErrNotExist) {
		return w.nothing(), w.shut
	}
	return r, err
}

// answerFor is replay for the id first, whose lock is held; fs.ErrNotExist
// where nothing is known of it.
func (w *Delivery) answerFor(first ID) (Report, error) {
	r, err := w.s.lookup(first)
	if err == nil {
		return w.replayOf(r)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return w.nothing(), err
	}
	found, ferr := w.m.find(first)
	if ferr != nil {
		return w.nothing(), ferr
	}
	if len(found) == 0 {
		return w.answerForgotten(first)
	}
	f, err := openFile(w.m.path(rightmost(found)), first) // the registry was lost
	if err != nil {
		return w.nothing(), asked(err)
	}
	defer func() { _ = f.Close() }()
	return w.replayOf(&registered{Header: f.Header, info: f.info})
}

// answerForgotten is answerFor where segments at most remember first.
func (w *Delivery) answerForgotten(first ID) (Report, error) {
	before, found, err := w.rememberedOf(first)
	switch {
	case err != nil:
		return w.nothing(), err
	case !found:
		return w.nothing(), fs.ErrNotExist
	case before.Same != w.h.same():
		return w.nothing(), errFoldedOtherwise(first)
	}
	r := w.nothing()
	r.ID, r.Replayed = first, true
	return w.m.outcome(first, r)
}
