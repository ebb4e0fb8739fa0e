package simulation

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xfer/spool"
	"xfer/spool/board"
)

// A world is what is known of all handoffs from outside.
type world struct {
	t       *testing.T
	r       *rand.Rand
	clock   time.Time
	hosts   []*host
	sync    synchronizer
	cut     bool // nothing is carried for now
	rounds  int  // after which all is carried
	slow    bool // nothing is carried while somebody waits for it a moment
	forced  bool // two hosts worked one mailbox at once
	sent    map[spool.ID]*sent
	order   []spool.ID          // of sent
	endings map[spool.ID]int    // of tasks: conclusions handed out
	orphans []spool.ID          // registered and never published
	seen    map[spool.ID]string // handoffs that were handed out, as they were
	entries []string            // appended to the card
	trace   []string
}

// A sent is what is known of one handoff.
type sent struct {
	kind     spool.Kind
	from, to spool.Name
	on       *host
	handled  int
	released int
}

// took counts what was handed out.
func (w *world) took(c *spool.Claim) {
	if c.Kind == spool.Conclusion {
		w.endings[c.InReplyTo]++
		return
	}
	if s := w.sent[c.ID]; s != nil {
		s.handled++
	} else {
		w.t.Errorf("%s %s was handed out, and nobody sent it", c.Kind, c.ID)
	}
	var b strings.Builder
	raw := c.Raw()
	for buf := make([]byte, 4096); ; {
		n, err := raw.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			break
		}
	}
	w.seen[c.ID] = b.String()
}

// meanwhile is what a sync tool does while somebody waits for it.
func (w *world) meanwhile() {
	if !w.slow && w.r.IntN(2) == 0 {
		w.sync.step(w.r, w.r.Float64())
	}
}

// settle carries until there is nothing left to carry.
func (w *world) settle() {
	for range w.rounds {
		w.sync.step(w.r, 1)
	}
}

// takeover moves a mailbox to another host as it is to be done: the sync tool
// has carried all, the old home works no more, and learns of it.
func (w *world) takeover(h *host, peer spool.Name) {
	if w.cut {
		return
	}
	w.settle()
	if h.works(peer, true) {
		h.say("takes over %s", peer)
	}
	w.settle()
}

// comesBack puts a handoff that was handed out before back, as a sync tool
// whose index was lost does, or a backup.
func (w *world) comesBack(h *host) {
	for _, id := range w.order {
		text, ok := w.seen[id]
		if !ok || w.r.IntN(3) > 0 {
			continue
		}
		place := []spool.Place{spool.New, spool.Cur, spool.Work}[w.r.IntN(3)]
		if w.sent[id].kind != spool.Task && place == spool.Work {
			place = spool.New
		}
		path := h.mailbox(w.sent[id].to).Path(place, id)
		if _, err := os.Lstat(path); err == nil {
			return
		}
		if _, err := os.Lstat(h.mailbox(w.sent[id].to).Path(spool.Finished, id)); err == nil && w.r.IntN(4) == 0 {
			text = text[:w.r.IntN(len(text))]
		}
		h.say("finds %s back in %s/, %d bytes", id, place, len(text))
		h.must(os.WriteFile(path, []byte(text), 0o600))
		return
	}
}

// copies puts a sync tool's conflict copy beside what is queued.
func (w *world) copies(h *host, peer spool.Name) {
	files, _ := filepath.Glob(h.mailbox(peer).Path(spool.New, "[0-9]*"))
	for _, path := range files {
		if b, err := os.ReadFile(path); err == nil && !strings.Contains(path, "conflict") {
			h.say("finds a conflict copy of %s", filepath.Base(path))
			h.must(os.WriteFile(path+".sync-conflict-20261130-170000-ABCDEFG", b, 0o600))
			return
		}
	}
}

// mostTurns is how often the hosts may still find something to do.
const mostTurns = 20

// quiesce ends the partition and works until nothing moves any more.
func (w *world) quiesce() {
	for _, id := range w.orphans {
		w.sent[id].on.again(id)
	}
	for round := range 3 {
		turns := 0
		for moved := true; moved; turns++ {
			if turns == mostTurns {
				w.t.Error("it never comes to rest")
				return
			}
			moved = false
			w.settle()
			for _, h := range w.hosts {
				for _, peer := range peers {
					for h.take(peer, false) {
						moved = true
					}
					moved = h.conclude(peer, 0, false) || moved
				}
			}
		}
		for _, h := range w.hosts {
			h.gc(time.Duration(2-round) * time.Hour)
		}
	}
	for range 2 {
		w.settle()
		for _, h := range w.hosts {
			_, _ = board.Open(h.open()).Read(context.Background(), card) // merges
		}
	}
	w.settle()
	for _, h := range w.hosts {
		h.gc(0) // of what an rsync has just brought back
	}
}

func (w *world) check() {
	for _, id := range w.order {
		s := w.sent[id]
		if n := s.handled; n < 1 || n > 1+s.released && !w.forced {
			w.t.Errorf("%s %s was handed out %d times, released %d times", s.kind, id, n, s.released)
		}
		if n := w.endings[id]; s.kind == spool.Task && (n < 1 || n > 1 && !w.forced) {
			w.t.Errorf("task %s: %d conclusions were handed out", id, n)
		}
	}
	for _, h := range w.hosts {
		w.checkSpool(h)
	}
	w.checkHomes()
	w.checkCard()
}

// checkSpool wants no invariant of the format broken, and nothing left where
// the host works that it should have dealt with.
func (w *world) checkSpool(h *host) {
	found, err := h.open().Check(context.Background())
	h.must(err)
	for _, f := range found {
		if f.Severity == spool.Fault {
			w.t.Errorf("on %s: %s", h.name, f)
		}
	}
	for _, peer := range peers {
		if !h.works(peer, false) {
			continue
		}
		for _, p := range []spool.Place{spool.New, spool.Cur, spool.Work} {
			left, err := os.ReadDir(h.mailbox(peer).PlaceDir(p))
			if !errors.Is(err, fs.ErrNotExist) {
				h.must(err)
			}
			for _, e := range left {
				w.t.Errorf("on %s, the home of %s, gc leaves %s/%s", h.name, peer, p, e.Name())
			}
		}
	}
}

// checkHomes wants both hosts to agree on who works a mailbox.
func (w *world) checkHomes() {
	for _, peer := range peers {
		one, err := w.hosts[0].mailbox(peer).Home()
		w.hosts[0].must(err)
		other, err := w.hosts[1].mailbox(peer).Home()
		w.hosts[1].must(err)
		if one != other || one == "" {
			w.t.Errorf("the home of %s is %q on one host and %q on the other", peer, one, other)
		}
	}
}

func (w *world) checkCard() {
	var cards []string
	for _, h := range w.hosts {
		bytes, err := os.ReadFile(board.Open(h.open()).Path(card))
		h.must(err)
		cards = append(cards, string(bytes))
		for _, text := range w.entries {
			if n := strings.Count(string(bytes), text+"\n"); n != 1 {
				w.t.Errorf("on %s the card has %q %d times", h.name, text, n)
			}
		}
		left, err := os.ReadDir(filepath.Dir(board.Open(h.open()).Path(card)))
		h.must(err)
		for _, e := range left {
			if _, isRsync := w.sync.(*rsync); strings.Contains(e.Name(), "conflict") && !isRsync {
				w.t.Errorf("on %s a copy is left: %s", h.name, e.Name())
			}
		}
	}
	if cards[0] != cards[1] {
		w.t.Errorf("the card differs:\n%s\n---\n%s", cards[0], cards[1])
	}
}
