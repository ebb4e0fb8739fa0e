//go:build ratio

package ratio

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"xfer/internal/durable"
	"xfer/spool"
)

const (
	batchSize  = 2048 // handoffs in a round of each
	batchGroup = 256  // that share their syncs
	batchWays  = 32
	batchPairs = 7
	batchWarm  = 1
	batchGain  = 6.0 // times the rate of one by one, at least
	batchLimit = 1.5 // in times of the bare loop
)

// TestBatch holds a batch to its gain over one send after the other by the same
// library, and to its price beside a bare loop: write, fsync, link and rename
// from 32 goroutines, the directory synced once for as many as share it in a
// batch. All three in turn.
func TestBatch(t *testing.T) {
	var gains, prices []float64
	for range tries {
		gain, price := batchBeside(t)
		gains, prices = append(gains, -gain), append(prices, price)
		if -median(gains) >= batchGain && median(prices) <= batchLimit {
			break
		}
	}
	t.Logf("batch: × %.2f the rate of one by one, at least %.1f; × %.2f the bare loop, at most %.1f", gains, batchGain, prices, batchLimit)
	if -median(gains) < batchGain {
		t.Errorf("batch: × %.2f the rate of one by one, the median of which is under %.1f", gains, batchGain)
	}
	if median(prices) > batchLimit {
		t.Errorf("batch: × %.2f the bare loop, the median of which is over %.1f", prices, batchLimit)
	}
}

// batchBeside is, as medians of a few rounds, how much faster a batch is than
// one send after the other, and what it costs beside the bare loop.
func batchBeside(t *testing.T) (gain, price float64) {
	s, bob := newBatchSpool(t)
	body := strings.Repeat("a line of a body of the usual length\n", 25)
	var gains, prices, rates []float64
	for i := range batchWarm + batchPairs {
		one := timed(t, func() error { return sendEach(s, body, batchSize/16) }) * 16
		many := timed(t, func() error { return sendBatch(s, body) })
		bare := timed(t, func() error { return bareBatch(bob, body, i) })
		if i >= batchWarm {
			gains, prices = append(gains, one/many), append(prices, many/bare)
			rates = append(rates, batchSize/many)
		}
	}
	t.Logf("%.0f a second", median(rates))
	return median(gains), median(prices)
}

func timed(t *testing.T, do func() error) float64 {
	t.Helper()
	begin := time.Now()
	if err := do(); err != nil {
		t.Fatal(err)
	}
	return time.Since(begin).Seconds()
}

// newBatchSpool is a spool with the mailboxes of bob and, for the bare loop, of
// bare, whose directory it returns.
func newBatchSpool(t *testing.T) (s *spool.Spool, bare string) {
	t.Helper()
	sys := spool.NewSystem()
	sys.Host = func() (spool.Host, error) { return "here-00000001", nil }
	dir := filepath.Join(t.TempDir(), "spool")
	s, err := spool.OpenOrCreate(dir, sys)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []spool.Name{"bob", "bare"} {
		if _, err := s.MakeMailbox(n); err != nil {
			t.Fatal(err)
		}
	}
	return s, filepath.Join(dir, "peers", "bare")
}

var batchDraft = spool.Draft{From: "alice", To: "bob", Kind: spool.Notification, Subject: "a yardstick", Type: "text/markdown"}

func sendEach(s *spool.Spool, body string, n int) error {
	for range n {
		w, err := s.NewDelivery(batchDraft)
		if err != nil {
			return err
		}
		if _, err = w.Write([]byte(body)); err == nil {
			_, err = w.Commit(context.Background())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func sendBatch(s *spool.Spool, body string) error {
	b := s.NewBatch()
	for range batchSize / batchGroup {
		var all []*spool.Delivery
		for range batchGroup {
			w, err := b.Add(batchDraft)
			if err != nil {
				return err
			}
			if _, err := w.Write([]byte(body)); err != nil {
				return err
			}
			b.Seal(w)
			all = append(all, w)
		}
		if _, errs := b.Commit(context.Background(), all); errs[0] != nil {
			return errs[0]
		}
	}
	return nil
}

// bareBatch is the bare loop.
func bareBatch(mailbox, body string, round int) error {
	text := []byte(strings.Repeat("Header: of a handoff\n", 25) + "\n" + body)
	ids := filepath.Join(filepath.Dir(filepath.Dir(mailbox)), "local", "ids")
	for group := range batchSize / batchGroup {
		next := make(chan string)
		errs := make(chan error, batchWays)
		var all sync.WaitGroup
		for range batchWays {
			all.Go(func() {
				for name := range next {
					if err := bareSend(mailbox, ids, name, text); err != nil {
						errs <- err
						return
					}
				}
			})
		}
		for i := range batchGroup {
			select {
			case next <- fmt.Sprintf("%08d%08d", round, group*batchGroup+i):
			case err := <-errs:
				return err
			}
		}
		close(next)
		all.Wait()
		if err := bareSync(filepath.Join(mailbox, "new")); err != nil {
			return err
		}
	}
	return nil
}

func bareSend(mailbox, ids, name string, text []byte) error {
	temp, shard := filepath.Join(mailbox, "tmp", name), filepath.Join(ids, name[14:])
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
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

func bareSync(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return f.Sync()
}
