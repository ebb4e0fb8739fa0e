package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"

	"xfer/internal/tool"
	"xfer/spool"
)

// --batch: JSON lines in, one handoff each; JSON lines out, one outcome each, in
// the same order. A line that fails does not stop the others.

// A batchLine is one line of --batch.
type batchLine struct {
	To        string   `json:"to"`
	Kind      string   `json:"kind"`
	Subject   string   `json:"subject"`
	Body      *string  `json:"body"`
	File      string   `json:"file"`
	ID        string   `json:"id"`
	Key       string   `json:"key"`
	Type      string   `json:"type"`
	Labels    []string `json:"labels"`
	InReplyTo string   `json:"in_reply_to"`
}

// batchTogether is how many handoffs share their syncs; each keeps a file open.
const batchTogether = 256

// A batching is one run of xfer-send --batch.
type batching struct {
	*Caller
	b      *spool.Batch
	mine   bool // the return address is there
	line   int
	status int // of the first failure
	sent   atomic.Int64
	answer bytes.Buffer // a group's outcomes
}

// batchFlags are those that --batch goes with.
var batchFlags = map[string]bool{"batch": true, "file": true, "f": true, "no-sync": true, "spool": true, "as": true, "json": true, "quiet": true, "q": true}

func sendBatch(c *tool.Call) error {
	if len(c.Arguments) > 0 {
		return tool.Usage("flag \"--batch\": each line names its own PEER")
	}
	for _, name := range c.LocalFlagNames() {
		if !batchFlags[name] {
			return tool.Usage("flag " + strconv.Quote("--"+name) + ": not together with \"--batch\"")
		}
	}
	c.CatchSignals()
	body, err := c.Body()
	if err != nil {
		return err
	}
	defer body.Close()
	if c.Bool("no-sync") {
		c.Process.System = c.Process.System.WithoutSync()
	}
	x, err := Open(c)
	if err != nil {
		return err
	}
	s := &batching{Caller: x, b: x.Spool.NewBatch()}
	defer c.Err.Progress(func() string { return fmt.Sprintf("%d sent", s.sent.Load()) })()
	if err := s.run(bufio.NewReaderSize(body, 64<<10)); err != nil {
		return err
	}
	if s.status != 0 {
		return tool.Exit(s.status)
	}
	return nil
}

// run reads lines in groups and ends each group before it reads on.
func (s *batching) run(r *bufio.Reader) error {
	for {
		var group []*parcel
		var end error
		for len(group) < batchTogether && end == nil {
			var line []byte
			if line, end = s.readLine(r); len(bytes.TrimSpace(line)) > 0 {
				group = append(group, s.begin(line))
			}
		}
		if err := s.commit(group); err != nil {
			return err
		}
		if errors.Is(end, io.EOF) {
			return nil
		}
		if end != nil {
			return end
		}
	}
}

// readLine is the next line; a longer one than any body could make is an error
// that ends the run.
func (s *batching) readLine(r *bufio.Reader) ([]byte, error) {
	limit, err := s.Process.System.MaxBytes()
	if err != nil {
		return nil, err
	}
	s.line++
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		// JSON makes of one byte six at most.
		if int64(len(line)) > 6*limit+1<<20 {
			return nil, &spool.Error{Op: "read line", Name: strconv.Itoa(s.line), Err: spool.Because(spool.ErrTooLarge, fmt.Sprintf("over the limit of a body of %d bytes", limit))}
		}
	}
}

// begin reads a line and writes its body. What is wrong with it is the
// parcel's own.
func (s *batching) begin(line []byte) *parcel {
	p := &parcel{report: spool.Report{Outcome: spool.NotDelivered}}
	if err := s.fill(p, line); err != nil {
		p.err = err
		if p.w != nil {
			p.w.Abort()
			p.w = nil
		}
	}
	return p
}

func (s *batching) fill(p *parcel, line []byte) error {
	var l batchLine
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return tool.Usage("line " + strconv.Itoa(s.line) + ": not an object of this form: " + err.Error())
	}
	draft, err := s.draft(&l)
	p.to, p.report.To = draft.To, draft.To
	if err != nil {
		return err
	}
	body, err := l.open()
	if err != nil {
		return err
	}
	defer body.Close()
	r := bufio.NewReaderSize(body, 4<<10)
	beginning, err := r.Peek(4 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if draft.Type == "" {
		draft.Type = typeOf(beginning)
	}
	if draft.Subject == "" {
		draft.Subject = subjectOf(beginning)
	}
	if draft.Subject == "" {
		return tool.Usage("line " + strconv.Itoa(s.line) + ": the body has no text to take a subject from")
	}
	if p.w, err = s.b.Add(draft); err != nil {
		return err
	}
	_, err = r.WriteTo(p.w)
	return err
}

// draft reads what a line says of its handoff.
func (s *batching) draft(l *batchLine) (d spool.Draft, err error) {
	d.From, d.Key = s.Name, l.Key
	if d.To, err = PeerName(l.To); err != nil {
		return d, err
	}
	switch d.Kind = spool.Kind(l.Kind); d.Kind {
	case spool.Task:
		if err := s.returnAddress(); err != nil {
			return d, err
		}
	case spool.Notification:
	default:
		return d, tool.Usage("line " + strconv.Itoa(s.line) + ": kind " + strconv.Quote(l.Kind) + ": task or notification")
	}
	if d.Subject, err = spool.ParseValue("subject", l.Subject); err != nil {
		return d, err
	}
	if d.Type, err = spool.ParseValue("type", l.Type); err != nil {
		return d, err
	}
	if l.ID != "" {
		if d.ID, err = spool.ParseID(l.ID); err != nil {
			return d, err
		}
	}
	for _, text := range l.Labels {
		label, err := spool.ParseLabel(text)
		if err != nil {
			return d, err
		}
		d.Labels = append(d.Labels, label)
	}
	if l.InReplyTo != "" {
		return d, s.inReplyTo(&d, l.InReplyTo)
	}
	return d, nil
}

// inReplyTo finds what a line's handoff answers.
func (s *batching) inReplyTo(d *spool.Draft, typed string) error {
	id, err := s.resolveAny(typed)
	if err != nil {
		return err
	}
	f, _, err := s.Spool.OpenAny(id)
	if err != nil {
		return onID("answer", id, err)
	}
	defer f.Close()
	d.InReplyTo, d.References = id, f.Chain()
	if n := len(d.References); n > maxConversation {
		return onID("answer", id, tooLong(n))
	}
	return nil
}

func (s *batching) returnAddress() error {
	if s.mine {
		return nil
	}
	if _, err := s.Spool.MakeMailbox(s.Name); err != nil {
		return &spool.Error{Op: "make mailbox", Name: string(s.Name), Err: err}
	}
	s.mine = true
	return nil
}

// open is the body of a line.
func (l *batchLine) open() (io.ReadCloser, error) {
	switch {
	case (l.Body != nil) == (l.File != ""):
		return nil, tool.Usage("a line has either \"body\" or \"file\"")
	case l.Body != nil:
		return io.NopCloser(bytes.NewReader([]byte(*l.Body))), nil
	}
	f, err := os.Open(l.File)
	if err != nil {
		return nil, tool.FileError(l.File, err)
	}
	return f, nil
}

// commit ends a group and prints its outcomes.
func (s *batching) commit(group []*parcel) error {
	all := make([]*spool.Delivery, len(group))
	for i, p := range group {
		all[i] = p.w
	}
	reports, errs := s.b.Commit(s.Ctx, all)
	for i, p := range group {
		if p.w != nil {
			p.report, p.err = reports[i], errs[i]
		}
		if err := s.print(p); err != nil {
			return err
		}
	}
	_, err := s.Out.Raw().Write(s.answer.Bytes())
	s.answer.Reset()
	return err
}

// A batchRecord is the outcome of a line, with the class of what went wrong.
type batchRecord struct {
	*outcomeRecord
	Class  string `json:"class,omitempty"`
	Status int    `json:"status,omitempty"`
}

func (s *batching) print(p *parcel) error {
	r := &batchRecord{outcomeRecord: newOutcomeRecord(p.report, p.err)}
	if p.err == nil && p.report.Outcome == spool.Refused {
		p.err = spool.Because(spool.ErrRefused, "it was refused: "+p.report.Detail)
	}
	if p.err != nil {
		class := tool.ClassOf(p.err)
		r.Class, r.Status = class.Name, class.Status
		if s.status == 0 {
			s.status = class.Status
		}
	} else {
		s.sent.Add(1)
	}
	line, err := tool.JSON(r)
	s.answer.Write(line)
	return err
}
