//go:build sync

package simulation

import (
	"flag"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"xfer/spool"
)

// The same as in the simulation, but that the synchronizers are real.

// A realSyncthing is two Syncthings. It carries all or, while it is paused,
// nothing.
type realSyncthing struct {
	t   *testing.T
	dir string
}

func (s *realSyncthing) do(command string) {
	s.t.Helper()
	if out, err := exec.Command("../../scripts/two-syncthings.sh", command, s.dir).CombinedOutput(); err != nil {
		s.t.Fatalf("two-syncthings %s: %v\n%s", command, err, out)
	}
}

func (s *realSyncthing) step(*rand.Rand, float64) { s.do("sync") }

// A realRsync is rsync both ways, as the documentation has it.
type realRsync struct {
	t    *testing.T
	a, b string
}

func (s *realRsync) step(*rand.Rand, float64) {
	s.t.Helper()
	suffix := "--suffix=.sync-conflict-" + time.Now().Format("20060102-150405.000000000") + "-rsync"
	for _, way := range [][2]string{{s.a, s.b}, {s.b, s.a}} {
		s.rsync("-au", "--exclude=/local/", "--exclude=/peers/*/tmp/", "--exclude=/board/", way[0]+"/", way[1]+"/")
		s.rsync("-aub", suffix, way[0]+"/board/", way[1]+"/board/")
	}
}

func (s *realRsync) rsync(args ...string) {
	s.t.Helper()
	if out, err := exec.Command("rsync", args...).CombinedOutput(); err != nil {
		s.t.Fatalf("rsync %v: %v\n%s", args, err, out)
	}
}

// partitions is how often the two hosts are cut off from one another.
const partitions = 3

var operations = flag.Int("operations", 500, "how many random operations each host does in a partition")

func TestPartitionsUnderSyncthing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, [2]string{filepath.Join(dir, "A"), filepath.Join(dir, "B")}, realSeed(t), func(string, string) synchronizer {
		return &realSyncthing{t, dir}
	})
	w.slow, w.rounds = true, 1 // a sync of Syncthing's ends when nothing is left
	defer w.end()
	s := w.sync.(*realSyncthing)
	for _, h := range w.hosts {
		h.create()
	}
	s.do("start")
	t.Cleanup(func() { s.do("stop") })
	w.begin()
	for n := range partitions {
		w.partition(n, func() { s.do("pause") }, func() { s.do("resume") })
	}
	w.quiesce()
	w.check()
}

func TestPartitionsUnderRsync(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, [2]string{filepath.Join(dir, "A"), filepath.Join(dir, "B")}, realSeed(t), func(a, b string) synchronizer {
		return &realRsync{t, a, b}
	})
	w.slow = true
	defer w.end()
	w.begin()
	for n := range partitions {
		w.partition(n, func() {}, func() {})
	}
	w.quiesce()
	w.check()
}

// partition is one: the mailboxes are moved about before it, and the card is
// the same afterwards.
func (w *world) partition(n int, cut, heal func()) {
	w.takeover(w.hosts[n%2], peers[n%2])
	w.takeover(w.hosts[1-n%2], peers[1-n%2])
	cut()
	w.cut = true
	for i := range 2 * *operations {
		w.step(2*n**operations + i)
	}
	heal()
	w.cut = false
	w.settle()
	w.t.Logf("after partition %d: %d handoffs, %d entries", n+1, len(w.order), len(w.entries))
}

func realSeed(t *testing.T) uint64 {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", s)
	return s
}

// create makes the host's spool before a sync tool sees it.
func (h *host) create() {
	_, err := spool.OpenOrCreate(h.dir, h.sys)
	h.must(err)
}
