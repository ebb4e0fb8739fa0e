package loops

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"xfer/internal/durable"
)

// BatchGroup is how many share one sync of new/ in Batch, and batchWays how many
// are on their way at once.
const (
	BatchGroup = 256
	batchWays  = 32
)

// Batch puts count handoffs with text into new/ of the mailbox, each with a
// link in the registry: write, fsync, link and rename from 32 goroutines, and a
// sync of new/ for each BatchGroup. run makes the names of one call others than
// those of another.
func Batch(mailbox string, text []byte, run, count int) error {
	// With fewer of Go's processors than goroutines few syncs wait together.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(batchWays))
	for at := 0; at < count; at += BatchGroup {
		if err := sendGroup(mailbox, text, run, at, min(at+BatchGroup, count)); err != nil {
			return err
		}
		if err := syncDir(filepath.Join(mailbox, "new")); err != nil {
			return err
		}
	}
	return nil
}

func sendGroup(mailbox string, text []byte, run, from, to int) error {
	next := make(chan int, to-from)
	for i := from; i < to; i++ {
		next <- i
	}
	close(next)
	var all sync.WaitGroup
	var failed sync.Map
	for way := range batchWays {
		all.Go(func() {
			for i := range next {
				if err := sendOne(mailbox, text, fmt.Sprintf("%012d%012d", run, i)); err != nil {
					failed.Store(way, err)
					return
				}
			}
		})
	}
	all.Wait()
	var err error
	failed.Range(func(_, e any) bool { err = e.(error); return false })
	return err
}

func sendOne(mailbox string, text []byte, name string) error {
	temp := filepath.Join(mailbox, "tmp", name)
	shard := filepath.Join(filepath.Dir(filepath.Dir(mailbox)), "local", "ids", name[len(name)-2:])
	err := writeSynced(temp, text)
	if err == nil {
		err = os.MkdirAll(shard, 0o700)
	}
	if err == nil {
		err = os.Link(temp, filepath.Join(shard, name))
	}
	if err == nil {
		err = durable.Publish(temp, filepath.Join(mailbox, "new", name))
	}
	return err
}
