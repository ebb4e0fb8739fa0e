package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"xfer/internal/durable"
)

// reaping is a gc at work in s, that ends with the test.
func reaping(t *testing.T, s *Spool) *Reaping {
	t.Helper()
	r, err := s.Reap(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// leftovers are those of one kind.
func leftovers(t *testing.T, r *Reaping, kind LeftoverKind) []Leftover {
	t.Helper()
	var all []Leftover
	if err := r.Survey(context.Background(), time.Now().Add(time.Hour), func(l Leftover) error {
		if l.Kind == kind {
			all = append(all, l)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func oneLeftover(t *testing.T, r *Reaping, kind LeftoverKind) *Leftover {
	t.Helper()
	all := leftovers(t, r, kind)
	if len(all) != 1 {
		t.Fatalf("%d of the kind %q, want one: %+v", len(all), kind, all)
	}
	return &all[0]
}

// worked is bob's mailbox, which this host works.
func worked(t *testing.T, s *Spool) *Mailbox {
	t.Helper()
	m := mailbox(t, s, "bob")
	if err := m.MayWork(context.Background(), false); err != nil {
		t.Fatal(err)
	}
	return m
}

// orphaned is a handoff that was registered and not published.
func orphaned(t *testing.T, s *Spool, m *Mailbox) ID {
	t.Helper()
	id := mustSend(t, s, note(newID(t, s)), "body")
	if err := os.Rename(m.file(New, id), m.tmpFile(id, "0")); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestOrphanIsUndone(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	id := orphaned(t, s, m)
	r := reaping(t, s)
	if err := r.DropTemp(context.Background(), oneLeftover(t, r, LeftTemp)); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, m, "tmp")
	if isRegistered(s, id) {
		t.Error("the link stays")
	}
	if r, err := send(s, note(id), "body"); err != nil || r.Replayed || r.Outcome != Queued {
		t.Errorf("sent again: %+v, %v", r, err)
	}
}

// Whoever completes an orphan while gc waits for the lock of its id has it.
func TestOrphanCompletedBesideGC(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	id := orphaned(t, s, m)
	r := reaping(t, s)
	l := oneLeftover(t, r, LeftTemp)
	unlock, err := s.lock(context.Background(), s.idLock(id), 0)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	ctx := &watchedContext{Context: context.Background(), asked: make(chan struct{})}
	go func() { ended <- r.DropTemp(ctx, l) }()
	<-ctx.asked // gc has the file, and waits for the id
	if err := durable.Publish(m.tmpFile(id, "0"), m.file(New, id)); err != nil {
		t.Fatal(err)
	}
	unlock()
	if err := <-ended; !Kept(err) {
		t.Errorf("got %v", err)
	}
	wantFiles(t, m, "new", string(id))
	if !isRegistered(s, id) {
		t.Error("its link is gone")
	}
}

// A watchedContext tells when somebody begins to wait for its end, which a wait
// for a lock does.
type watchedContext struct {
	context.Context
	once  sync.Once
	asked chan struct{}
}

func (c *watchedContext) Done() <-chan struct{} {
	c.once.Do(func() { close(c.asked) })
	return c.Context.Done()
}

// A writer that minted its id takes no lock: gc may undo its link a moment
// before it publishes.
func TestOrphanPublishedAfterItsUndoing(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	id := orphaned(t, s, m)
	r := reaping(t, s)
	l := oneLeftover(t, r, LeftTemp)
	info, err := os.Lstat(r.Path(l))
	if err != nil {
		t.Fatal(err)
	}
	if undone, err := r.undo(l, info); err != nil || !undone {
		t.Fatal(undone, err)
	}
	if err := durable.Publish(m.tmpFile(id, "0"), m.file(New, id)); err != nil {
		t.Fatal(err)
	}
	r.redo(l, info)
	if !isRegistered(s, id) {
		t.Error("it is published, and not registered")
	}
}

func TestTempFileOfALiveWriterStays(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	w, err := s.NewDelivery(note(""))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	r := reaping(t, s)
	if err := r.DropTemp(context.Background(), oneLeftover(t, r, LeftTemp)); !Kept(err) {
		t.Errorf("got %v", err)
	}
	if len(files(t, m, "tmp")) != 1 {
		t.Error("it is gone")
	}
}

// What is set aside and not whole says nothing about its id, also when it goes:
// a whole one that comes later is delivered.
func TestAlteredInBadIsNotRemembered(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	id := newID(t, s)
	whole := onDisk(id, nil, "body")
	put(t, m.file(Bad, id), onDisk(id, func(h *Header) { h.Digest[0]++ }, "body"))
	r := reaping(t, s)
	if n, _, err := r.LetGo(context.Background(), "bob", leftovers(t, r, LeftSetAside)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	put(t, m.file(New, id), whole)
	if bodies, notes := takeAll(t, m); bodies[id] != "body" {
		t.Errorf("not delivered: %v", notes)
	}
}

// In done/ an id is handled whatever became of the file.
func TestBrokenInDoneIsRemembered(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	id := mustSend(t, s, note(""), "body")
	whole, err := os.ReadFile(m.file(New, id))
	if err != nil {
		t.Fatal(err)
	}
	takeAll(t, m)
	if err := os.Truncate(m.file(Finished, id), 0); err != nil {
		t.Fatal(err)
	}
	r := reaping(t, s)
	if n, _, err := r.LetGo(context.Background(), "bob", leftovers(t, r, LeftFinished)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	put(t, m.file(New, id), whole)
	if bodies, _ := takeAll(t, m); len(bodies) != 0 {
		t.Error("it was handed out again")
	}
	if len(files(t, m, "bad")) != 1 {
		t.Error("the copy is not set aside")
	}
}

// A file that was replaced between the survey and the sweep stays.
func TestFinishedThatChangedStays(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	id := mustSend(t, s, note(""), "body")
	takeAll(t, m)
	r := reaping(t, s)
	all := leftovers(t, r, LeftFinished)
	b, err := os.ReadFile(m.file(Finished, id))
	if err != nil {
		t.Fatal(err)
	}
	put(t, m.file(Finished, id)+"x", b)
	if err := os.Rename(m.file(Finished, id)+"x", m.file(Finished, id)); err != nil {
		t.Fatal(err)
	}
	if n, _, err := r.LetGo(context.Background(), "bob", all); n != 0 || err != nil {
		t.Error(n, err)
	}
	wantFiles(t, m, "done", string(id))
}

func TestNothingGoesFromAnothersMailbox(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	id := mustSend(t, s, note(""), "body")
	takeAll(t, m)
	r := reaping(t, s)
	all := leftovers(t, r, LeftFinished)
	put(t, m.liveFile(there), []byte(`{"claim":99}`))
	m.forget()
	if n, _, err := r.LetGo(context.Background(), "bob", all); n != 0 || err != nil {
		t.Error(n, err)
	}
	if len(leftovers(t, r, LeftFinished)) != 0 {
		t.Error("it is surveyed")
	}
	wantFiles(t, m, "done", string(id))
}

// The links of what went elsewhere are folded; a broken one is nobody's to
// forget, and one whose handoff stands as another file is needed.
func TestFoldLinks(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	went, broken, copied, empty := mustSend(t, s, note(""), "1"), mustSend(t, s, note(""), "2"), mustSend(t, s, note(""), "3"), mustSend(t, s, note(""), "4")
	for _, id := range []ID{went, broken, empty} {
		if err := os.Remove(m.file(New, id)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s.idFile(broken), []byte("no header\n\n"))
	put(t, s.idFile(empty), nil)
	b, err := os.ReadFile(m.file(New, copied))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(m.file(New, copied)); err != nil {
		t.Fatal(err)
	}
	put(t, m.file(Work, copied), b)
	r := reaping(t, s)
	n, err := r.FoldLinks(context.Background(), leftovers(t, r, LeftLink))
	if n != 2 || err != nil {
		t.Errorf("%d folded, %v", n, err)
	}
	for id, want := range map[ID]bool{went: false, empty: false, broken: true, copied: true} {
		if isRegistered(s, id) != want {
			t.Errorf("%s is registered: %t, want %t", id, !want, want)
		}
	}
	if f, found, err := s.foldedHere(went); err != nil || !found || f.Last.Handled() {
		t.Errorf("remembered as %+v, %t, %v", f, found, err)
	}
	if _, found, _ := s.foldedHere(empty); found {
		t.Error("the empty one is remembered")
	}
	if r, err := send(s, note(went), "1"); !errors.Is(err, ErrUnknown) || !r.Replayed {
		t.Errorf("sent again: %+v, %v", r, err)
	}
	wantFiles(t, m, "new")
}

func TestKeyIsDroppedUnderItsLock(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	d := note("")
	d.Key = "run 1"
	id := mustSend(t, s, d, "body")
	r := reaping(t, s)
	l := oneLeftover(t, r, LeftKey)
	if err := r.DropKey(context.Background(), l); !Kept(err) {
		t.Errorf("its id is known: %v", err)
	}
	for _, path := range []string{s.idFile(id), m.file(New, id)} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	unlock, err := s.lock(context.Background(), s.keyLock(l.Name), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.DropKey(context.Background(), l); !Kept(err) {
		t.Errorf("a sender has it: %v", err)
	}
	unlock()
	if err := r.DropKey(context.Background(), l); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(r.Path(l)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it is there")
	}
}

// A task that was concluded from elsewhere moves to done/, whoever took it.
func TestConcludedTaskIsSettled(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := worked(t, s)
	d := note("")
	d.Kind = Task
	id := mustSend(t, s, d, "body")
	takeAll(t, m)
	put(t, mailbox(t, s, "alice").file(New, id.Conclusion()), onDisk(id.Conclusion(), func(h *Header) {
		h.From, h.To, h.Kind, h.Ending, h.InReplyTo = "bob", "alice", Conclusion, Done, id
	}, "result"))
	r := reaping(t, s)
	if did, err := r.Settle(context.Background(), oneLeftover(t, r, LeftConcluded)); err != nil || !strings.Contains(did, "already concluded (done)") {
		t.Errorf("%q, %v", did, err)
	}
	wantFiles(t, m, "work")
	wantFiles(t, m, "done", string(id))
}

func TestMisroutedAndMalformedAreSetAside(t *testing.T) {
	s := newSpool(t, "alice", "bob")
	m := worked(t, s)
	astray, broken, cut := newID(t, s), newID(t, s), newID(t, s)
	put(t, m.file(New, astray), onDisk(astray, func(h *Header) { h.To = "carol" }, "body"))
	put(t, m.file(Cur, broken), onDisk(newID(t, s), nil, "body"))
	put(t, m.file(New, cut), onDisk(cut, nil, "body")[:100])
	r := reaping(t, s)
	for _, kind := range []LeftoverKind{LeftMisrouted, LeftMalformed, LeftNotWhole} {
		if did, err := r.Settle(context.Background(), oneLeftover(t, r, kind)); err != nil || !strings.Contains(did, "set aside as bad/") {
			t.Errorf("%s: %q, %v", kind, did, err)
		}
	}
	wantFiles(t, m, "new")
	wantFiles(t, m, "cur")
	if n := len(files(t, m, "bad")); n != 3 {
		t.Errorf("%d in bad/", n)
	}
	// The whole one that comes later is delivered.
	put(t, m.file(New, cut), onDisk(cut, nil, "body"))
	if bodies, notes := takeAll(t, m); bodies[cut] != "body" {
		t.Error(notes)
	}
}

func TestStrays(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	id := mustSend(t, s, note(""), "body")
	b, err := os.ReadFile(m.file(New, id))
	if err != nil {
		t.Fatal(err)
	}
	same := string(id) + ".sync-conflict-20261130-170000-ABCDEFG"
	for name, data := range map[string][]byte{
		same: b, "." + string(id) + ".Xa31": b[:100], string(id) + "~": append(slices.Clone(b), '!'), ".DS_Store": nil,
	} {
		put(t, filepath.Join(m.placeDir(New), name), data)
	}
	r := reaping(t, s)
	all := leftovers(t, r, LeftStray)
	if len(all) != 3 {
		t.Fatalf("%d strays: %+v", len(all), all)
	}
	for i := range all {
		did, err := r.DropStray(&all[i])
		if err != nil || strings.HasPrefix(did, "removed") != (all[i].Name == same) {
			t.Errorf("%s: %q, %v", all[i].Name, did, err)
		}
	}
	wantFiles(t, m, "new", ".DS_Store", string(id))
	if n := len(files(t, m, "bad")); n != 2 {
		t.Errorf("%d in bad/", n)
	}
}

// A host may be called so that its claim looks like a copy.
func TestLiveCopies(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	put(t, m.liveFile("conflict-00000003"), []byte(`{}`))
	put(t, filepath.Join(m.liveDir(), string(here)+".sync-conflict-20261130-170000-ABCDEFG.json"), []byte(`{"claim":1}`))
	r := reaping(t, s)
	if l := oneLeftover(t, r, LeftLiveCopy); !strings.Contains(l.Name, "sync-conflict") {
		t.Errorf("%+v", l)
	}
}

// What belongs to a handoff stays while that is unfinished, whatever the survey
// saw.
func TestDocumentOfAHandoffUnderWayStays(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	id := mustSend(t, s, note(""), "body")
	c, err := m.ClaimID(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	_, f, err := c.Document()
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	r := reaping(t, s)
	l := oneLeftover(t, r, LeftDocument)
	if !l.Live {
		t.Error("it is not known to be live")
	}
	if err := r.Drop(l); !Kept(err) {
		t.Errorf("got %v", err)
	}
	if err := c.Finish(); err != nil {
		t.Fatal(err)
	}
	if l = oneLeftover(t, r, LeftDocument); l.Live {
		t.Error("it is live although it is finished")
	}
	if err := r.Drop(l); err != nil {
		t.Error(err)
	}
}

// A creator that was killed leaves files that the next one passes over and gc
// removes.
func TestHalfMadeSpool(t *testing.T) {
	s := newSpool(t)
	beside := besideOf(s.dir)
	if err := os.Mkdir(beside, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(beside, "..stignore123"), nil)
	put(t, filepath.Join(s.dir, "..stignore123"), nil)
	put(t, filepath.Join(s.dir, ".xfer-spool9"), nil)
	put(t, filepath.Join(s.dir, ".xfer-spool.mine"), nil)
	r := reaping(t, s)
	if err := r.DropBeside(oneLeftover(t, r, LeftBeside)); err != nil {
		t.Error(err)
	}
	all := leftovers(t, r, LeftSpoolTemp)
	for i := range all {
		if err := r.Drop(&all[i]); err != nil {
			t.Error(err)
		}
	}
	names, err := readNames(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if want := []string{".stignore", ".xfer-spool.mine", "board", "local", "peers", "xfer-spool"}; !slices.Equal(names, want) {
		t.Errorf("left: %q", names)
	}

	dir := filepath.Join(t.TempDir(), "spool")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "..stignore4611686018427387904"), nil)
	if _, err := Init(dir, machine(here)); err != nil {
		t.Errorf("init after a crash: %v", err)
	}
}

// What a sync tool brought back into new/ is delivered all the same, where it
// was finished and let go.
func TestOutcomeOfAGhostOfWhatWasLetGo(t *testing.T) {
	s := newSpool(t, "bob")
	m := worked(t, s)
	id := mustSend(t, s, note(""), "body")
	b, err := os.ReadFile(m.file(New, id))
	if err != nil {
		t.Fatal(err)
	}
	takeAll(t, m)
	letGo(t, m, id)
	put(t, m.file(New, id), b)
	if r, err := m.Outcome(id); err != nil || r.Outcome != Delivered {
		t.Errorf("%+v, %v", r, err)
	}
	if l, err := s.Locate(id); err != nil || l.Report.Outcome != Delivered {
		t.Errorf("located as %+v, %v", l, err)
	}
}
