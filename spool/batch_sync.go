package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"xfer/internal/durable"
)

// Sync puts the files of a group on the disk, and says nothing: what could not
// be synced Commit does not publish. All of them are on their way before the
// first is waited for, and none before all are there: the journal's first commit
// then has them all, and a disk that is busy with one takes the next without
// being woken for it (measured: 13 µs each instead of 45).
func (b *Batch) Sync(all []*Delivery) {
	b.synced = true
	for _, w := range all {
		if w != nil && b.faults[w] == nil {
			durable.BeginWriting(w.f)
		}
	}
	failed := make([]error, len(all))
	each(len(all), syncTogether, func(i int) {
		if w := all[i]; w != nil && b.faults[w] == nil {
			failed[i] = b.sync(w.f)
		}
	})
	for i, err := range failed {
		if err != nil {
			b.faults[all[i]] = err
		}
	}
}

// placeKeys gives the keys of a group to its ids before anything is published,
// as Delivery.Commit does: else a power cut could leave a handoff without its
// key. What has no durable key is not published.
func (b *Batch) placeKeys(ctx context.Context, group []batched) {
	var placed []*batched
	paths := make(map[*batched]string)
	for i := range group {
		g := &group[i]
		if g.w == nil || g.err != nil || g.w.key == "" || g.w.shut != nil {
			continue
		}
		var path string
		if path, g.err = g.w.placeKey(ctx); path != "" {
			placed, paths[g] = append(placed, g), path
		}
	}
	if len(placed) == 0 {
		return
	}
	b.mark(b.lazy.keyDir())
	each(len(placed), syncTogether, func(i int) { placed[i].err = b.syncFile(paths[placed[i]]) })
	lost := b.syncDirty()
	for _, g := range placed {
		for _, err := range lost {
			g.err = err
		}
		if g.w.keyed = g.err == nil; !g.w.keyed {
			g.w.takeBackKey(ctx, paths[g])
		}
	}
}

func (b *Batch) syncFile(path string) error {
	f, _, err := durable.OpenRegular(path, os.O_RDWR)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return b.sync(f)
}

// mark says that a directory has changed.
func (b *Batch) mark(dir string) { b.dirty[dir] = true }

// syncDirty syncs each directory that has changed, once, and returns those
// that could not be: of what was published in one of them, nobody can tell
// whether it is durable.
func (b *Batch) syncDirty() (lost map[string]error) {
	var dirs []string
	for dir := range b.dirty {
		dirs = append(dirs, dir)
	}
	clear(b.dirty)
	failed := make([]error, len(dirs))
	each(len(dirs), syncTogether, func(i int) { failed[i] = b.syncDir(dirs[i]) })
	lost = make(map[string]error)
	for i, dir := range dirs {
		if failed[i] != nil {
			lost[dir] = failed[i]
		}
	}
	return lost
}

func (b *Batch) syncDir(dir string) error {
	f, err := durable.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody has removed it, and with it what it held
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return b.sync(f)
}

// each calls do with each number below n, at most so many at once.
func each(n, atOnce int, do func(int)) {
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	work := func() {
		for i := range next {
			do(i)
		}
	}
	var others sync.WaitGroup
	for range min(n, atOnce) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
