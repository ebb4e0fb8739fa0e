//go:build ratio

package ratio

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"xfer/bench/loops"
	"xfer/spool"
)

const (
	batchSize  = 4096 // handoffs in a round of each
	batchPairs = 7
	batchWarm  = 1
	batchProcs = 16  // of Go, as xfer-send --batch has them
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
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(batchProcs))
	s, bare := newBatchSpool(t)
	body := strings.Repeat("a line of a body of the usual length\n", 25)
	text := strings.Repeat("Header: of a handoff\n", 18) + "\n" + body
	var gains, prices, rates []float64
	for i := range batchWarm + batchPairs {
		one := timed(t, func() error { return sendEach(s, body, batchSize/32) }) * 32
		many := timed(t, func() error { return sendBatch(s, body) })
		loop := timed(t, func() error { return loops.Batch(bare, []byte(text), i, batchSize) })
		if i >= batchWarm {
			gains, prices = append(gains, one/many), append(prices, many/loop)
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
		if _, _, err := s.MakeMailbox(n); err != nil {
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
	under := s.NewGroups()
	for range batchSize / loops.BatchGroup {
		b, err := under.Next()
		if err != nil {
			return err
		}
		all, err := fillGroup(b, body)
		if err != nil {
			return err
		}
		under.Commit(context.Background(), b, all, func(_ []spool.Report, errs []error) error { return errors.Join(errs...) })
	}
	return under.Wait()
}

func fillGroup(b *spool.Batch, body string) (all []*spool.Delivery, err error) {
	for range loops.BatchGroup {
		w, err := b.Add(batchDraft)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(body)); err != nil {
			return nil, err
		}
		b.Seal(w)
		all = append(all, w)
	}
	return all, nil
}
