package spool

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A Watch waits for changes in directories. What it says is a hint: events are
// lost when a queue overflows, when a directory is replaced, and on
// filesystems without inotify. Whoever waits looks again after each Wait,
// which is never longer than the time it is given.
type Watch struct {
	w *fsnotify.Watcher // nil where inotify has nothing left to give
}

// watch begins to watch dirs. It is called before the first look, so that
// nothing falls in between.
func (s *Spool) watch(dirs ...string) *Watch {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return &Watch{}
	}
	for _, dir := range dirs {
		_ = w.Add(dir) // one that is not there is looked at by the rescan
	}
	return &Watch{w}
}

// Close ends the watch.
func (w *Watch) Close() {
	if w.w != nil {
		_ = w.w.Close()
	}
}

// Wait returns nil when something may have changed, at the latest after poll,
// and the cause of ctx's end when that comes first.
func (w *Watch) Wait(ctx context.Context, poll time.Duration) error {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	var events chan fsnotify.Event
	var errs chan error
	if w.w != nil {
		events, errs = w.w.Events, w.w.Errors
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	case <-events:
	case <-errs:
	}
	for { // one look answers all that has come until now
		select {
		case <-events:
		case <-errs:
		default:
			return nil
		}
	}
}

// Watch watches what a reader of the mailbox takes from.
func (m *Mailbox) Watch() *Watch { return m.s.watch(m.placeDir(New), m.placeDir(Cur)) }
