package spool

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"xfer/internal/durable"
)

// A Watch waits for names that come into directories. What it says is a hint:
// events are lost when a queue overflows, when a directory is replaced, and on
// filesystems without inotify. Whoever waits looks again after each Wait, which
// is never longer than the time it is given.
type Watch struct {
	w     *fsnotify.Watcher // nil where inotify has nothing left to give
	dirs  map[string]uint64 // inode under watch; 0: none
	at    time.Time         // of the last look at the inodes
	err   error
	nudge chan struct{}

	writes bool // what is written to in place counts as come
}

// watch begins to watch dirs. It is called before the first look, so that
// nothing falls in between.
func watch(dirs ...string) *Watch {
	w := &Watch{dirs: make(map[string]uint64, len(dirs)), nudge: make(chan struct{}, 1)}
	for _, dir := range dirs {
		w.dirs[dir] = 0
	}
	if w.w, w.err = fsnotify.NewWatcher(); w.err == nil {
		w.refresh()
		return w
	}
	if errno := syscall.Errno(0); errors.As(w.err, &errno) {
		w.err = errno // without the library's words
	}
	return w
}

// Err is why Wait only waits for its time to pass, for all directories or for
// some; nil where inotify works.
func (w *Watch) Err() error { return w.err }

// Nudge has Wait return as if anything may have come. It may be called from
// another goroutine.
func (w *Watch) Nudge() {
	select {
	case w.nudge <- struct{}{}:
	default:
	}
}

// Close ends the watch.
func (w *Watch) Close() {
	if w.w != nil {
		_ = w.w.Close()
	}
}

// refresh watches directories that were made, or made again, in the meantime.
func (w *Watch) refresh() {
	w.at = time.Now()
	if w.w == nil {
		return
	}
	for dir, watched := range w.dirs {
		info, err := os.Lstat(dir)
		if err != nil || durable.Inode(info) == watched {
			continue
		}
		_ = w.w.Remove(dir) // of one that is gone there may be no watch left
		if err := w.w.Add(dir); err == nil {
			w.dirs[dir] = durable.Inode(info)
		} else if !errors.Is(err, os.ErrNotExist) {
			w.err = err
		}
	}
}

// Wait returns when something may have come, at the latest after poll: the
// paths that were seen to come, or none when anything may have. The error is
// the cause of ctx's end.
func (w *Watch) Wait(ctx context.Context, poll time.Duration) (came []string, err error) {
	// Where much comes to one directory, another that was replaced is not
	// forgotten.
	if time.Since(w.at) >= poll {
		w.refresh()
		return nil, nil
	}
	timer := time.NewTimer(poll)
	defer timer.Stop()
	var events chan fsnotify.Event
	var errs chan error
	if w.w != nil {
		events, errs = w.w.Events, w.w.Errors
	}
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timer.C:
			w.refresh()
			return nil, nil
		case <-w.nudge:
			return nil, nil
		case <-errs: // an overflow: anything may have come
			return nil, nil
		case e := <-events:
			came = w.appendCome(came, e)
		}
		if came, ok := w.drainEvents(came, events); !ok {
			return nil, nil
		} else if len(came) > 0 {
			return came, nil
		}
	}
}

// appendCome keeps the names that came: what leaves a directory is no news.
func (w *Watch) appendCome(came []string, e fsnotify.Event) []string {
	if e.Has(fsnotify.Create) || w.writes && e.Has(fsnotify.Write) {
		return append(came, e.Name)
	}
	return came
}

// maxCome is how many names are worth more than a look at the directory.
const maxCome = 1024

// drainEvents takes what has come until now; false: so much that one look is better.
func (w *Watch) drainEvents(came []string, events chan fsnotify.Event) ([]string, bool) {
	for n := 0; ; n++ {
		select {
		case e := <-events:
			came = w.appendCome(came, e)
		default:
			return came, true
		}
		if n > maxCome {
			return nil, false
		}
	}
}

// Watch watches what a reader of the mailbox takes from.
func (m *Mailbox) Watch() *Watch { return watch(m.placeDir(New), m.placeDir(Cur)) }

// WatchNew watches what is delivered to several mailboxes, with one inotify
// instance.
func WatchNew(all []*Mailbox) *Watch {
	var dirs []string
	for _, m := range all {
		dirs = append(dirs, m.placeDir(New))
	}
	return watch(dirs...)
}

// PlaceDir is the directory of place p, as a Watch names what comes to it.
func (m *Mailbox) PlaceDir(p Place) string { return m.placeDir(p) }

// Came is the id of a handoff that came to place p of this mailbox, if path
// says so.
func (m *Mailbox) Came(path string) (id ID, p Place, ok bool) {
	for _, p := range []Place{New, Cur} {
		dir := m.placeDir(p) + string(os.PathSeparator)
		if len(path) > len(dir) && path[:len(dir)] == dir {
			id, ok := parseFile(p, path[len(dir):])
			return id, p, ok
		}
	}
	return "", "", false
}
