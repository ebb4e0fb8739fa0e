package spool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A disk notes what is synced, and what new/ of bob holds then.
type disk struct {
	mu    sync.Mutex
	new   string
	syncs []synced
	fail  string // the path whose sync fails
	path  string // before whose sync do is called, once
	do    func()
}

type synced struct {
	path   string
	queued int
}

func (d *disk) sync(f *os.File) error {
	d.reached(f.Name())
	names, err := readNames(d.new)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncs = append(d.syncs, synced{f.Name(), len(names)})
	if err == nil && f.Name() == d.fail {
		return syscall.EIO
	}
	return err
}

func (d *disk) failAt(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = path
}

func (d *disk) at(path string, do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.path, d.do = path, do
}

func (d *disk) reached(path string) {
	d.mu.Lock()
	var do func()
	if path == d.path {
		do, d.do = d.do, nil
	}
	d.mu.Unlock()
	if do != nil {
		do()
	}
}

// below is what was synced below dir, or dir itself.
func (d *disk) below(dir string) (some []synced) {
	for _, s := range d.syncs {
		if s.path == dir || strings.HasPrefix(s.path, dir+"/") {
			some = append(some, s)
		}
	}
	return some
}

// batchSpool is a spool on a disk that notes.
func batchSpool(t *testing.T) (*Spool, *disk) {
	t.Helper()
	s := newSpool(t, "bob", "carol")
	d := &disk{new: mailbox(t, s, "bob").placeDir(New)}
	s.sys.Sync, s.fs.Sync = d.sync, d.sync
	return s, d
}

// batch delivers drafts in one group, the body of each its number.
func batch(t *testing.T, b *Batch, drafts ...Draft) ([]Report, []error) {
	t.Helper()
	return b.Commit(context.Background(), added(t, b, drafts...))
}

func added(t *testing.T, b *Batch, drafts ...Draft) (all []*Delivery) {
	t.Helper()
	for i, d := range drafts {
		w, err := b.Add(d)
		if err == nil {
			_, err = fmt.Fprint(w, i)
		}
		if err != nil {
			t.Fatal(err)
		}
		b.Seal(w)
		all = append(all, w)
	}
	return all
}

func TestBatchSyncsFilesThenPublishesThenSyncsOnce(t *testing.T) {
	s, d := batchSpool(t)
	const many = 100
	reports, errs := batch(t, s.NewBatch(), slices.Repeat([]Draft{note("")}, many)...)
	for i, r := range reports {
		if errs[i] != nil || r.Outcome != Queued {
			t.Fatalf("%d: %+v, %v", i, r, errs[i])
		}
	}
	m := mailbox(t, s, "bob")
	files := d.below(m.tmpDir())
	if len(files) != many || slices.ContainsFunc(files, func(s synced) bool { return s.queued > 0 }) {
		t.Errorf("synced before anything was published: %v", files)
	}
	if dirs := d.below(m.placeDir(New)); len(dirs) != 1 || dirs[0].queued != many {
		t.Errorf("new/ was synced %v, want once with all of them", dirs)
	}
	if ids := d.below(s.idsDir()); len(ids) != 1 {
		t.Errorf("the registry's directory was synced %d times for its shards, want 1", len(ids))
	}
	bodies, _ := takeAll(t, m)
	for i, r := range reports {
		if bodies[r.ID] != fmt.Sprint(i) {
			t.Errorf("%s has the body %q, want %d", r.ID, bodies[r.ID], i)
		}
	}
}

func TestBatchSyncFails(t *testing.T) {
	s, d := batchSpool(t)
	d.failAt(d.new)
	elsewhere := note("")
	elsewhere.To = "carol"
	b := s.NewBatch()
	reports, errs := batch(t, b, note(""), elsewhere, note(""))
	for i, want := range []Outcome{Unknown, Queued, Unknown} {
		if reports[i].Outcome != want || errors.Is(errs[i], ErrUnknown) != (want == Unknown) {
			t.Errorf("%d: %+v, %v, want %s", i, reports[i], errs[i], want)
		}
	}
	if n := len(d.below(d.new)); n != 1 {
		t.Errorf("new/ was synced %d times", n)
	}
	d.failAt("")
	if reports, errs := batch(t, b, note("")); errs[0] != nil || reports[0].Outcome != Queued {
		t.Errorf("the next group: %+v, %v", reports[0], errs[0])
	}
}

func TestBatchFileSyncFails(t *testing.T) {
	s, d := batchSpool(t)
	b := s.NewBatch()
	all := added(t, b, note(""), note(""))
	w, err := b.Add(note(""))
	if err != nil {
		t.Fatal(err)
	}
	d.failAt(w.tmp)
	b.Seal(w)
	reports, errs := b.Commit(context.Background(), append(all, w))
	if errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], syscall.EIO) || reports[2].Outcome != NotDelivered {
		t.Errorf("%+v, %v", reports, errs)
	}
	m := mailbox(t, s, "bob")
	wantFiles(t, m, "tmp")
	if n := len(files(t, m, "new")); n != 2 {
		t.Errorf("%d are queued, want 2", n)
	}
}

func TestBatchKeysAreDurableFirst(t *testing.T) {
	s, d := batchSpool(t)
	var drafts []Draft
	for i := range 20 {
		n := note("")
		n.Key = fmt.Sprint(i)
		drafts = append(drafts, n)
	}
	b := s.NewBatch()
	first, errs := batch(t, b, drafts...)
	keys := d.below(s.keyDir())
	if len(keys) != len(drafts)+1 || slices.ContainsFunc(keys, func(s synced) bool { return s.queued > 0 }) {
		t.Errorf("synced before anything was published: %v; want %d keys and their directory", keys, len(drafts))
	}
	again, errs2 := batch(t, b, drafts...)
	for i := range drafts {
		if errs[i] != nil || errs2[i] != nil || again[i].ID != first[i].ID || !again[i].Replayed {
			t.Errorf("%d: %+v, %v, then %+v, %v", i, first[i], errs[i], again[i], errs2[i])
		}
	}
}

// Of a key that cannot be made durable nothing is published, and nothing left.
func TestBatchKeySyncFails(t *testing.T) {
	for _, dir := range []bool{false, true} {
		s, d := batchSpool(t)
		n := note("")
		n.Key = "k"
		path := filepath.Join(s.keyDir(), keyHash(n.From, n.To, n.Key))
		d.failAt(path)
		if dir {
			d.failAt(s.keyDir())
		}
		b := s.NewBatch()
		reports, errs := batch(t, b, note(""), n)
		if errs[0] != nil || !errors.Is(errs[1], syscall.EIO) || reports[1].Outcome != NotDelivered {
			t.Errorf("%+v, %v", reports, errs)
		}
		if id, err := s.keyed(path); id != "" || err != nil {
			t.Errorf("the key is left to %s, %v", id, err)
		}
		wantFiles(t, mailbox(t, s, "bob"), "tmp")
		d.failAt("")
		if reports, errs := batch(t, b, n); errs[0] != nil || reports[0].Outcome != Queued || reports[0].Replayed {
			t.Errorf("again: %+v, %v", reports, errs)
		}
	}
}

// A key that another process takes over before it is published is its.
func TestBatchKeyTakenOver(t *testing.T) {
	s, d := batchSpool(t)
	n := note("")
	n.Key = "k"
	path := filepath.Join(s.keyDir(), keyHash(n.From, n.To, n.Key))
	var other Report
	b := s.NewBatch()
	all := added(t, b, n)
	d.at(path, func() {
		var err error
		if other, err = send(s, n, "0"); err != nil {
			t.Error(err)
		}
	})
	reports, errs := b.Commit(context.Background(), all)
	if errs[0] != nil || other.ID == "" || reports[0].ID != other.ID || !reports[0].Replayed {
		t.Errorf("%+v, %v, want a replay of %q", reports[0], errs[0], other.ID)
	}
	wantFiles(t, mailbox(t, s, "bob"), "new", string(other.ID))
}

func TestBatchAbort(t *testing.T) {
	s, _ := batchSpool(t)
	b := s.NewBatch()
	b.Abort(append(added(t, b, note(""), note("")), nil))
	m := mailbox(t, s, "bob")
	wantFiles(t, m, "tmp")
	wantFiles(t, m, "new")
	if reports, errs := batch(t, b, note("")); errs[0] != nil || reports[0].Outcome != Queued {
		t.Errorf("the next group: %+v, %v", reports[0], errs[0])
	}
}

// What a batch has published itself counts for the limit, and what found no
// room keeps no key.
func TestBatchFillsMailbox(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		s, _ := batchSpool(t)
		m := mailbox(t, s, "bob")
		if err := m.ChangePeer(context.Background(), func(p *Peer) { p.MaxQueued = 3 }); err != nil {
			t.Fatal(err)
		}
		drafts := slices.Repeat([]Draft{note("")}, 5)
		for i := range drafts {
			if keyed {
				drafts[i].Key = strconv.Itoa(i)
			}
		}
		_, errs := batch(t, s.NewBatch(), drafts...)
		for i, err := range errs {
			if full := errors.Is(err, ErrFull); full != (i >= 3) {
				t.Errorf("keyed %t: %d: %v", keyed, i, err)
			}
		}
		wantFiles(t, m, "tmp")
		if keys, _ := readNames(s.keyDir()); keyed && len(keys) != 3 {
			t.Errorf("the keys of %d handoffs are left, want those of 3", len(keys))
		}
	}
}

// A send that was killed between its publish and the sync is made durable by
// whoever answers for it.
func TestReplaySyncsWhatWasPublished(t *testing.T) {
	s, d := batchSpool(t)
	n := note(newID(t, s))
	mustSend(t, s, n, "body")
	d.syncs = nil
	w, err := s.NewDelivery(n)
	if err == nil {
		_, err = io.WriteString(w, "body")
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Commit(context.Background())
	if err != nil || !r.Replayed || len(d.below(d.new)) != 1 {
		t.Errorf("%+v, %v; new/ was synced %v, want once", r, err, d.below(d.new))
	}
}
