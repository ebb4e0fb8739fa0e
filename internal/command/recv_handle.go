package command

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
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
	limit   int64    // of a conclusion's body, in bytes
	retries int
	rate    *handler.Rate
	slots   chan struct{} // one taken for each that runs
	unable  int           // how many starts in a row did not come about
	ableAt  time.Time     // when the next one is tried
	ended   sync.WaitGroup

	mu      sync.Mutex
	running map[spool.ID]*job
	left    bool                     // something is to be tried later
	watch   *spool.Watch             // nil with --drain
	changed map[*spool.Receiver]bool // what runs, since it was told
	tell    chan struct{}
}

// A job is one handler at work.
type job struct {
	r      *spool.Receiver
	c      *spool.Claim
	p      *handler.Process
	stdout *os.File // what it prints, with --conclude; else nil
	later  bool     // it is to be tried again
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
	h := &handling{receiving: x, argv: x.Command, env: handlerEnvironment(), retries: x.Int("retries"),
		running: make(map[spool.ID]*job), changed: make(map[*spool.Receiver]bool), tell: make(chan struct{}, 1)}
	jobs := x.Int("jobs")
	switch {
	case jobs < 1:
		return nil, tool.Usage("flag \"--jobs\": at least 1")
	case h.retries < 0:
		return nil, tool.Usage("flag \"--retries\": not a number of tries")
	}
	rate, err := parseRate(x.String("rate"))
	if err != nil {
		return nil, err
	}
	h.rate, h.slots = handler.NewRate(rate), make(chan struct{}, jobs)
	if h.limit, err = x.Process.System.MaxBytes(); err != nil {
		return nil, err
	}
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
		return 0, tool.Usage("flag \"--rate\": " + strconv.Quote(s) + " is no number of starts a second, such as 10/s")
	}
	return n, nil
}

// lookAgainWorking is after how long a receiver that still has something to
// start looks again: for a hold, for a retry that comes before the rest, and
// for what the other names have.
const lookAgainWorking = time.Second

// startAll starts a handler for each of what is due for a receiver, as slots
// come free.
func (h *handling) startAll(a arrival) (n int, again soon, err error) {
	if time.Now().Before(h.ableAt) {
		return 0, inAWhile, nil
	}
	if err := a.StillHome(); err != nil {
		return 0, later, err
	}
	scanned := time.Now()
	a.came = nil // what comes is told one by one, and what is older may have come since
	q, err := h.queue(a)
	if err != nil {
		return 0, later, err
	}
	for {
		if !h.drain && n > 0 && time.Since(scanned) > lookAgainWorking {
			return n, atOnce, nil
		}
		started, err := h.startNext(a.Receiver, q)
		if err == nil && started {
			n++
			if !h.once {
				continue
			}
		}
		if q.Busy() > 0 || time.Now().Before(h.ableAt) {
			again = inAWhile
		}
		return n, again, err
	}
}

// startNext waits for a slot and starts a handler for the next of q that is
// due, if there is one.
func (h *handling) startNext(r *spool.Receiver, q *spool.Queue) (started bool, err error) {
	select {
	case h.slots <- struct{}{}:
	case <-h.Ctx.Done():
		return false, h.Ctx.Err()
	}
	defer func() {
		if !started {
			<-h.slots
		}
	}()
	if err := h.spaced(); err != nil {
		return false, err
	}
	c, err := r.NextDue(h.Ctx, q, func(id spool.ID, at time.Time) { h.tryLater(r, id, at) })
	h.notes(q.Notes())
	if err != nil || c == nil {
		return false, err
	}
	if err := r.StillHome(); err != nil {
		c.Release()
		return false, err
	}
	return h.start(r, c)
}

// start starts a handler for c. Where that is not possible, as on a full disk,
// it is said, and nothing is started for a while.
func (h *handling) start(r *spool.Receiver, c *spool.Claim) (started bool, err error) {
	j := &job{r: r, c: c}
	if err := j.run(h); err != nil {
		c.DropDocument()
		c.Release()
		h.Err.Report(onID("handle", c.ID, err))
		h.unable++
		h.ableAt = time.Now().Add(handler.Backoff(h.unable, h.Process.System.Rand))
		return false, nil
	}
	h.unable = 0
	h.rate.Started(time.Now())
	h.runs(j, true)
	err = r.Started(c)
	h.ended.Add(1)
	go h.finish(j)
	return true, err
}

// spaced waits until the rate allows another start.
func (h *handling) spaced() error {
	wait := h.rate.Wait(time.Now())
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
	c := handler.Command{
		Argv: h.argv, Env: h.environment(j.r, j.c, path), Stdin: body, Stdout: h.Process.Stdout, Stderr: h.pass,
		Lock: j.c.Lock(), Timeout: h.Duration("timeout"), Grace: h.Duration("grace"),
	}
	if h.Bool("conclude") && j.c.Kind == spool.Task {
		if j.stdout, err = h.Spool.Capture(); err != nil {
			return err
		}
		c.Stdout, c.Capture, c.Limit = nil, j.stdout, h.limit
	}
	if j.p, err = handler.Start(c); err != nil {
		j.close()
	}
	return err
}

// close closes what the job has open.
func (j *job) close() {
	if j.stdout != nil {
		_ = j.stdout.Close()
	}
}

// pass hands on what a handler prints on standard error.
func (h *handling) pass(piece []byte) { h.Err.Pass(piece) }

// handlerEnvironment is this process's, without what is for it alone: a handler
// that is a receiver too is not the service.
func handlerEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NOTIFY_SOCKET=") })
}

// environment is what a handler is told about its handoff.
func (h *handling) environment(r *spool.Receiver, c *spool.Claim, document string) []string {
	dir := h.Spool.Dir()
	if abs, err := filepath.Abs(dir); err == nil {
		dir, document = abs, absolute(document)
	}
	return append(slices.Clip(h.env),
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

// wait waits until no handler runs, and tells whether something is left for
// later. The error is that of Ctx, which ends the waiting.
func (h *handling) wait() (left bool, err error) {
	ended := make(chan struct{})
	go func() { h.ended.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-h.Ctx.Done():
		return false, h.Ctx.Err()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.left, nil
}

// end asks what still runs to end, and waits for it: what does not finish is
// offered again.
func (h *handling) end() {
	h.mu.Lock()
	for _, j := range h.running {
		j.p.Stop()
	}
	h.mu.Unlock()
	h.ended.Wait()
}
