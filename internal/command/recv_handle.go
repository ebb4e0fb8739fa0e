package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"xfer/internal/handler"
	"xfer/internal/tool"
	"xfer/spool"
)

const defaultGrace = 10 * time.Second

// A handling runs a command for each handoff: handlers are started one after
// the other, in the order of ids, and up to jobs of them run at once.
type handling struct {
	*receiving
	argv    []string
	env     []string // what every handler has
	jobs    int
	retries int
	rate    *handler.Rate
	slots   chan struct{}

	mu      sync.Mutex
	running map[spool.ID]*job
	later   map[spool.ID]retry
	left    bool // something is to be tried later
	watch   *spool.Watch
	ended   sync.WaitGroup
}

// A retry is a handoff that is to be tried again.
type retry struct {
	r  *spool.Receiver
	at time.Time
}

// A job is one handler at work.
type job struct {
	r      *spool.Receiver
	c      *spool.Claim
	p      *handler.Process
	stdout *os.File // with --conclude
}

// newHandling is nil where there is no COMMAND.
func newHandling(x *receiving) (*handling, error) {
	if len(x.Command) == 0 {
		for _, flag := range []string{"conclude", "jobs", "timeout", "retries", "rate", "grace"} {
			if x.IsSet(flag) {
				return nil, tool.Usage("flag \"--" + flag + "\": it needs a COMMAND after \"--\"")
			}
		}
		return nil, nil
	}
	if x.Out.JSON() {
		return nil, tool.Usage("flag \"--json\": with a COMMAND nothing is announced")
	}
	h := &handling{receiving: x, argv: x.Command, jobs: x.Int("jobs"), retries: x.Int("retries"),
		running: make(map[spool.ID]*job), later: make(map[spool.ID]retry)}
	switch {
	case h.jobs < 1:
		return nil, tool.Usage("flag \"--jobs\": at least 1")
	case h.retries < 0:
		return nil, tool.Usage("flag \"--retries\": not a number of tries")
	}
	rate, err := parseRate(x.String("rate"))
	if err != nil {
		return nil, err
	}
	h.rate, h.slots = handler.NewRate(rate), make(chan struct{}, h.jobs)
	if err := handler.Look(h.argv); err != nil {
		return nil, &spool.Error{Op: "run", Name: h.argv[0], Err: spool.Because(noCommand(err), err.Error())}
	}
	return h, nil
}

func noCommand(err error) error {
	if errors.Is(err, handler.ErrNoCommand) {
		return tool.ErrNoFile
	}
	return err
}

// parseRate reads N/s; 0 where nothing was given.
func parseRate(s string) (float64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(s, "/s"), 64)
	if err != nil || !strings.HasSuffix(s, "/s") || n <= 0 || n > 1e6 {
		return 0, tool.Usage("flag \"--rate\": " + strconv.Quote(s) + " is not a number and \"/s\"")
	}
	return n, nil
}

func (h *handling) attach(w *spool.Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watch = w
}

// startAll starts a handler for each of what is due for a receiver, as slots
// come free.
func (h *handling) startAll(a arrival) (n int, busy bool, err error) {
	h.offerDue()
	q, err := a.Arrivals(a.rescan)
	if err != nil {
		return 0, false, onMailbox(a.Mailbox(), err)
	}
	defer h.told()
	for {
		select {
		case h.slots <- struct{}{}:
		case <-h.Ctx.Done():
			return n, false, h.Ctx.Err()
		}
		c, err := a.NextDue(h.Ctx, q, func(id spool.ID, at time.Time) { h.tryLater(a.Receiver, id, at) })
		h.notes(q.Notes())
		if err == nil && c != nil {
			err = h.start(a.Receiver, c)
		}
		if err != nil || c == nil {
			<-h.slots
			return n, q.Busy() > 0, err
		}
		n++
		if h.once {
			return n, false, nil
		}
	}
}

// start starts a handler for c, whose slot is taken.
func (h *handling) start(r *spool.Receiver, c *spool.Claim) error {
	if err := h.spaced(); err != nil {
		c.Release()
		return err
	}
	if err := r.StillHome(); err != nil {
		c.Release()
		return err
	}
	j := &job{r: r, c: c}
	if err := j.run(h); err != nil {
		c.DropDocument()
		c.Release()
		return onID("handle", c.ID, err)
	}
	h.mu.Lock()
	h.running[c.ID] = j
	h.mu.Unlock()
	err := r.Started(c)
	h.ended.Add(1)
	go h.finish(j)
	return err
}

// spaced waits until the rate allows another start.
func (h *handling) spaced() error {
	wait := h.rate.Due(time.Now())
	if wait == 0 {
		return nil
	}
	select {
	case <-time.After(wait):
		return nil
	case <-h.Ctx.Done():
		return h.Ctx.Err()
	}
}

// run lays out the body and starts the handler.
func (j *job) run(h *handling) error {
	path, body, err := j.c.Document()
	if err != nil {
		return err
	}
	defer body.Close()
	j.stdout = h.Process.Stdout
	if h.Bool("conclude") && j.c.Kind == spool.Task {
		if j.stdout, err = h.s.Capture(); err != nil {
			return err
		}
	}
	j.p, err = handler.Start(handler.Command{
		Argv: h.argv, Env: h.environment(j.r, j.c, path), Stdin: body, Stdout: j.stdout, Stderr: h.pass,
		Lock: j.c.Lock(), Timeout: h.Duration("timeout"), Grace: h.Duration("grace"),
	})
	if err != nil {
		j.close(h)
	}
	return err
}

// close closes what only this job has open.
func (j *job) close(h *handling) {
	if j.stdout != h.Process.Stdout {
		_ = j.stdout.Close()
	}
}

// pass hands on what a handler prints on standard error.
func (h *handling) pass(piece []byte) { h.Err.Pass(piece) }

// environment is what a handler is told about its handoff.
func (h *handling) environment(r *spool.Receiver, c *spool.Claim, document string) []string {
	dir := h.s.Dir()
	if abs, err := filepath.Abs(dir); err == nil {
		dir, document = abs, absolute(document)
	}
	return append(os.Environ(),
		"XFER_SPOOL="+dir, "XFER_NAME="+string(r.Mailbox().Name()),
		"XFER_HANDOFF_ID="+string(c.ID), "XFER_HANDOFF_FROM="+string(c.From), "XFER_HANDOFF_TO="+string(c.To),
		"XFER_HANDOFF_KIND="+string(c.Kind), "XFER_HANDOFF_SUBJECT="+c.Subject, "XFER_HANDOFF_FILE="+document,
		"XFER_HANDOFF_CONVERSATION="+string(c.Conversation()))
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// tryLater notes that id is to be tried at a time.
func (h *handling) tryLater(r *spool.Receiver, id spool.ID, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.later[id], h.left = retry{r, at}, true
}

// offerDue has the receivers find again what is due by now.
func (h *handling) offerDue() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Process.System.Now()
	for id, l := range h.later {
		if !l.at.After(now) {
			l.r.Offer(id)
			delete(h.later, id)
		}
	}
}

// pause is how long may be waited until something is due, at most most.
func (h *handling) pause(most time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Process.System.Now()
	for _, l := range h.later {
		most = min(most, max(l.at.Sub(now), time.Millisecond))
	}
	return most
}

// told says for whoever looks which handlers run.
func (h *handling) told() {
	h.mu.Lock()
	running := make(map[*spool.Receiver][]spool.ID)
	for _, r := range h.holding {
		running[r] = nil
	}
	for id, j := range h.running {
		running[j.r] = append(running[j.r], id)
	}
	working := len(h.running)
	h.mu.Unlock()
	tellService(fmt.Sprintf("STATUS=receiving as %s; %d running", h.listed(), working))
	for r, ids := range running {
		_ = r.Working(ids) // for people; nothing depends on it
	}
}

// wait waits until no handler runs, and tells whether something is left for
// later.
func (h *handling) wait() bool {
	h.ended.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.left
}

// end asks what still runs to end, and waits for it: what does not finish is
// offered again.
func (h *handling) end() {
	h.mu.Lock()
	for _, j := range h.running {
		j.p.Stop()
	}
	h.mu.Unlock()
	h.wait()
}
