package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"xfer/internal/durable"
)

// placeKeys gives the keys of a group to its ids before anything is published,
// as Delivery.Commit does: else a power cut could leave a handoff without its
// key. What is not placed here, Commit places by itself.
func (b *Batch) placeKeys(ctx context.Context, group []batched) {
	placed := make(map[*Delivery]string)
	var keyed []*Delivery
	for _, g := range group {
		if g.w == nil || g.err != nil || g.w.key == "" || g.w.shut != nil {
			continue
		}
		if path, err := g.w.placeKey(ctx); err == nil && path != "" {
			placed[g.w] = path
			keyed = append(keyed, g.w)
		}
	}
	if len(keyed) == 0 {
		return
	}
	b.mark(b.lazy.keyDir())
	each(len(keyed), func(i int) { keyed[i].keyed = b.syncFile(placed[keyed[i]]) == nil })
	if lost := b.syncDirty(); len(lost) > 0 {
		for _, w := range keyed {
			w.keyed = false
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
	each(len(dirs), func(i int) { failed[i] = b.syncDir(dirs[i]) })
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

// each calls do with each number below n, several at once.
func each(n int, do func(int)) {
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
	for range min(n, syncTogether) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
