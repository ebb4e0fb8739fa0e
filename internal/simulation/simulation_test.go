package simulation

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xfer/spool"
	"xfer/spool/board"
)

var (
	schedules = flag.Int("schedules", 80, "how many random schedules of each kind are run")
	seed      = flag.Uint64("seed", 0, "the seed of one schedule to run; 0: new ones")
)

const card = board.CardID("plan")

var peers = []spool.Name{"alice", "bob"}

// kinds are the synchronizers that are simulated.
var kinds = []struct {
	name string
	join func(a, b string) synchronizer
}{
	{"syncthing-1", func(a, b string) synchronizer { return &syncthing{a: a, b: b, common: tree{}, old: true} }},
	{"syncthing-2", func(a, b string) synchronizer { return &syncthing{a: a, b: b, common: tree{}} }},
	{"rsync", func(a, b string) synchronizer { return &rsync{a: a, b: b} }},
}

// Every handoff is handed out exactly once, every task has exactly one
// conclusion, and every card has every entry in the same bytes on both hosts,
// whatever the order in which two hosts work and a synchronizer carries files
// between them. A mailbox moves to the other host and back on the way.
func TestSchedules(t *testing.T) { eachSchedule(t, "TestSchedules", false) }

// Where both hosts worked one mailbox in a partition, since somebody forced
// it, nothing is lost either, and one of them is told that it does no more.
func TestForcedHomes(t *testing.T) { eachSchedule(t, "TestForcedHomes", true) }

func eachSchedule(t *testing.T, test string, forced bool) {
	n := *schedules
	if forced {
		n = (n + 4) / 5
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			first := *seed
			if first == 0 {
				first = uint64(time.Now().UnixNano())
			}
			for i := range uint64(n) {
				run(t, first+i, k.join, forced)
				if t.Failed() {
					t.Fatalf("again: go test ./internal/simulation -run '%s/%s' -seed %d -schedules 1", test, k.name, first+i)
				}
			}
			t.Logf("%d schedules from seed %d", n, first)
		})
	}
}

// run is one schedule.
func run(t *testing.T, seed uint64, join func(a, b string) synchronizer, forced bool) {
	dir := t.TempDir()
	w := newWorld(t, [2]string{filepath.Join(dir, "a", "spool"), filepath.Join(dir, "b", "spool")}, seed, join)
	defer w.end()
	w.begin()
	if forced {
		w.force()
	}
	steps := 20 + w.r.IntN(40)
	for n := range steps {
		w.step(n)
	}
	w.quiesce()
	w.check()
}

// end tells what a schedule that failed has done.
func (w *world) end() {
	if p := recover(); p != nil {
		if _, told := p.(failed); !told {
			panic(p)
		}
	}
	if w.t.Failed() {
		w.t.Log(strings.Join(w.trace, "\n"))
	}
}

func newWorld(t *testing.T, dirs [2]string, seed uint64, join func(a, b string) synchronizer) *world {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 1)), clock: time.Now(), rounds: 3,
		sent: map[spool.ID]*sent{}, endings: map[spool.ID]int{}, seen: map[spool.ID]string{}}
	for i, name := range []string{"hosta-00000001", "hostb-00000002"} {
		skew := time.Duration(w.r.IntN(3)-1) * 24 * time.Hour
		w.hosts = append(w.hosts, newHost(t, w, dirs[i], name, peers[i], skew, seed))
	}
	w.sync = join(w.hosts[0].dir, w.hosts[1].dir)
	return w
}

// begin makes the two spools, a card that both have, and the homes.
func (w *world) begin() {
	for _, h := range w.hosts {
		s, err := spool.OpenOrCreate(h.dir, h.sys)
		h.must(err)
		_, _, err = s.Create(context.Background(), h.peer, "")
		h.must(err)
	}
	a := w.hosts[0]
	_, _, err := board.Open(a.open()).Create(context.Background(), card, "The plan", "alice")
	a.must(err)
	w.settle()
	for _, h := range w.hosts {
		h.works(h.peer, false)
	}
	w.settle()
}

// force has one host take over the other's mailbox while the other still works
// it and does not know.
func (w *world) force() {
	w.forced = true
	a, b := w.hosts[0], w.hosts[1]
	for range 4 {
		b.send("alice", "bob", spool.Task)
		b.send("alice", "bob", spool.Notification)
	}
	w.settle()
	if !a.works("bob", true) || !b.works("bob", false) {
		w.t.Error("two homes could not be forced")
	}
	for range 6 {
		a.take("bob", false)
		b.take("bob", false)
		a.conclude("bob", 1, false)
		b.conclude("bob", 1, false)
	}
	w.settle()
	if b.works("bob", false) {
		w.t.Error("hostb still works what hosta took over")
	}
}

// step is one thing that happens on one host, or between them.
func (w *world) step(n int) {
	r := w.r
	h := w.hosts[n%2]
	peer := peers[r.IntN(2)]
	other := peers[1-n%2]
	switch op := r.IntN(100); {
	case op < 16:
		h.send(h.peer, other, spool.Task)
	case op < 28:
		h.send(h.peer, other, spool.Notification)
	case op < 46:
		h.take(peer, r.IntN(5) == 0)
	case op < 56:
		h.conclude(peer, 1, r.IntN(4) == 0)
	case op < 59:
		h.offer(peer)
	case op < 64:
		h.append(fmt.Sprintf("entry %d of %s", n, h.peer))
	case op < 66:
		h.crashSend(r, h.peer, other)
	case op < 68:
		if len(w.order) > 0 {
			id := w.order[r.IntN(len(w.order))]
			w.sent[id].on.again(id)
		}
	case op < 72:
		h.gc(time.Duration(r.IntN(2)) * time.Hour)
	case op < 74:
		w.takeover(h, peer)
	case op < 77:
		w.comesBack(h)
	case op < 79:
		w.copies(h, peer)
	case op < 82:
		h.look(peer)
	case !w.cut:
		w.sync.step(r, r.Float64())
	}
}
