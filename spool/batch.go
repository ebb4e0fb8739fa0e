package spool

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"xfer/internal/durable"
)

// A Batch delivers many handoffs at the price of few. The promise is that of
// one: all files are written and synced, from several goroutines at once, then
// linked and published one after the other, then each directory that changed is
// synced once, and only then is an outcome told.
type Batch struct {
	lazy *Spool // records what it is to sync
	sync func(*os.File) error

	mu    sync.Mutex
	dirty map[string]bool // directories
}

// syncTogether is how many fsyncs are under way at once: beyond it a disk has
// no more to merge (spool.md, "What durable means here").
const syncTogether = 32

// NewBatch begins a batch. It is used from one goroutine.
func (s *Spool) NewBatch() *Batch {
	b := &Batch{sync: s.sys.Sync, dirty: make(map[string]bool)}
	lazy := *s
	lazy.sys = s.sys.WithoutSync()
	lazy.fs.Sync = func(f *os.File) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.dirty[f.Name()] = true
		return nil
	}
	b.lazy = &lazy
	return b
}

// Add begins a delivery that Commit ends with the others; its errors are those
// of NewDelivery.
func (b *Batch) Add(d Draft) (*Delivery, error) { return b.lazy.NewDelivery(d) }

// Commit ends deliveries that Add began, in their order; one that is nil is
// passed over. Each has a report and an error as Delivery.Commit has them.
func (b *Batch) Commit(ctx context.Context, all []*Delivery) ([]Report, []error) {
	reports, errs := make([]Report, len(all)), make([]error, len(all))
	b.each(len(all), func(i int) {
		if w := all[i]; w != nil {
			reports[i] = w.nothing()
			if errs[i] = w.seal(); errs[i] == nil {
				errs[i] = b.sync(w.f)
			}
		}
	})
	for i, w := range all {
		switch {
		case w == nil:
		case errs[i] != nil:
			errs[i] = w.fault(errs[i])
			w.Abort()
		default:
			reports[i], errs[i] = w.Commit(ctx)
		}
	}
	b.settle(all, reports, errs)
	return reports, errs
}

// each calls do with each number below n, several at once.
func (b *Batch) each(n int, do func(int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, syncTogether) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// settle syncs each directory that changed, once. Of what was published in one
// that cannot be synced, nobody can tell whether it is durable.
func (b *Batch) settle(all []*Delivery, reports []Report, errs []error) {
	var dirs []string
	for dir := range b.dirty {
		dirs = append(dirs, dir)
	}
	clear(b.dirty)
	failed := make([]error, len(dirs))
	b.each(len(dirs), func(i int) { failed[i] = b.syncDir(dirs[i]) })
	lost := make(map[string]error)
	for i, dir := range dirs {
		if failed[i] != nil {
			lost[dir] = failed[i]
		}
	}
	if len(lost) == 0 {
		return
	}
	for i, w := range all {
		if w == nil || errs[i] != nil {
			continue
		}
		for _, dir := range []string{w.m.placeDir(w.place), w.m.dir, filepath.Dir(w.m.dir), w.s.shardDir(reports[i].ID), w.s.idsDir()} {
			if err := lost[dir]; err != nil {
				reports[i].Outcome = Unknown
				errs[i] = Because(ErrUnknown, "it is written, but whether it is durable cannot be told: "+err.Error())
				break
			}
		}
	}
}

func (b *Batch) syncDir(dir string) error {
	f, err := durable.OpenDir(dir)
	if err != nil {
		if _, lerr := os.Lstat(dir); lerr != nil && os.IsNotExist(lerr) {
			return nil // somebody has removed it, and with it what it held
		}
		return err
	}
	defer func() { _ = f.Close() }()
	return b.sync(f)
}
