package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

// Send is xfer-send.
func Send() *tool.Program {
	return &tool.Program{
		Name:  "xfer-send",
		About: "Deliver a document to peers, durably.",
		Verbs: []*tool.Verb{{
			Synopsis: []string{"-k KIND [flags] PEER… [-f FILE | < FILE]", "--batch [flags] [-f FILE | < FILE]"},
			About: "Delivers a document to each PEER and prints its id, one line a PEER, - where nothing was written. " +
				"Once an id is printed the handoff is durable. Waits for nothing but the body, unless --await is given.",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "`KIND` is task (a conclusion comes back) or notification"},
				&cli.StringFlag{Name: "subject", Aliases: []string{"s"}, Usage: "`TEXT`; default: the body's first heading or line"},
				FileFlag(),
				&cli.StringFlag{Name: "in-reply-to", Usage: "it answers the handoff `ID`"},
				&cli.StringSliceFlag{Name: "label", Usage: "with label `L`, to filter by; may be repeated"},
				&cli.StringFlag{Name: "id", Usage: "send under this very `ID`: a retry is a replay"},
				&cli.StringFlag{Name: "key", Usage: "an idempotency key of your own, `TEXT`"},
				&cli.DurationFlag{Name: "await", Usage: "wait `DURATION` for a task's conclusion, print its body"},
				&cli.BoolFlag{Name: "batch", Usage: "JSON lines in: to kind subject body; outcomes out"},
				&cli.StringFlag{Name: "type", Usage: "`MIME` type of the body"},
				&cli.BoolFlag{Name: "no-sync", Usage: "do not wait for the disk: a power cut may lose it"},
				&cli.BoolFlag{Name: "force", Usage: "past the limit of a conversation's length"},
			},
			Max: -1,
			Examples: []string{
				"git diff | xfer-send -k task -s \"Review this\" reviewer",
				"xfer-send -k notification alice bob -f report.md",
				"xfer-send -k task --await 1h worker < job.md > result.md",
			},
			Statuses: []int{1, 65, 66, 67, 73, 75, 79, 80, 81},
			Run:      send,
			Brief:    true,
		}},
	}
}

// A sending is one run of xfer-send.
type sending struct {
	*Caller
	draft spool.Draft
	to    []spool.Name
	body  io.ReadCloser
	all   []*parcel

	beginning []byte // of the body, which goes on unless it is whole
	whole     bool
}

// A parcel is one peer's part of a sending.
type parcel struct {
	to     spool.Name
	w      *spool.Delivery // nil where the peer cannot be sent to
	report spool.Report
	err    error
	stop   func() // ends the wait for its conclusion
	line   int    // of --batch

	verdict spool.Verdict // on the peer, where it is to be told
}

func send(c *tool.Call) error {
	if c.Bool("batch") {
		return sendBatch(c)
	}
	if len(c.Arguments) == 0 {
		return tool.WithHint(tool.Usage("too few arguments"), "usage: xfer-send -k KIND [flags] PEER… [-f FILE | < FILE]")
	}
	s, err := newSending(c)
	if err != nil {
		return err
	}
	if s.body, err = c.Body(); err != nil {
		return err
	}
	defer s.body.Close()
	if err := s.openSpool(); err != nil {
		if dir, nothing := s.nowhere(err); nothing {
			return s.nobodyAt(dir)
		}
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	if err := s.copyBody(); err != nil {
		return err
	}
	if err := s.returnAddress(); err != nil {
		return err
	}
	failures := c.Failures()
	for _, p := range s.all {
		failures.Add(s.commit(p))
	}
	if c.IsSet("await") {
		return s.awaitAll(failures)
	}
	return failures.Err()
}

// newSending reads the flags: nothing is touched before all of them are right.
func newSending(c *tool.Call) (*sending, error) {
	s := &sending{Caller: &Caller{Call: c}}
	kind, err := c.WordFlag("kind", string(spool.Task), string(spool.Notification))
	if err != nil {
		return nil, err
	}
	if kind == "" {
		return nil, tool.WithHint(tool.Usage("flag \"--kind\": needs to be given"), "-k task asks for a conclusion, -k notification for nothing")
	}
	s.draft.Kind = spool.Kind(kind)
	for i, arg := range c.Arguments {
		n, err := PeerName(arg)
		if err != nil {
			return nil, tool.WithHint(err, s.fileHint(arg))
		}
		for _, before := range s.to[:i] {
			if before == n {
				return nil, tool.Usage("peer " + strconv.Quote(arg) + ": named twice")
			}
		}
		s.to = append(s.to, n)
	}
	if s.draft.Labels, err = labels(c); err != nil {
		return nil, err
	}
	for flag, value := range map[string]*string{"subject": &s.draft.Subject, "type": &s.draft.Type} {
		if *value, err = spool.ParseValue(flag, c.String(flag)); err != nil {
			return nil, err
		}
	}
	if _, err := c.Process.System.MaxBytes(); err != nil {
		return nil, err
	}
	if c.IsSet("in-reply-to") {
		if _, err := spool.ParseIDPart(c.String("in-reply-to")); err != nil {
			return nil, err
		}
	}
	if c.IsSet("id") {
		if s.draft.ID, err = spool.ParseID(c.String("id")); err != nil {
			return nil, err
		}
		if len(s.to) > 1 {
			return nil, tool.Usage("flag \"--id\": one PEER only, since an id is one handoff's")
		}
	}
	if c.IsSet("key") {
		if s.draft.Key = c.String("key"); s.draft.Key == "" || c.IsSet("id") {
			return nil, tool.Usage("flag \"--key\": not empty, and not together with \"--id\"")
		}
	}
	if c.IsSet("await") {
		switch {
		case len(s.to) > 1 && !c.Out.JSON():
			return nil, tool.Usage("flag \"--await\": with several PEERs it needs \"--json\"")
		}
	}
	return s, nil
}

// PeerName reads a PEER. People write NAME@HOST, and there are no hosts.
func PeerName(arg string) (spool.Name, error) {
	n, err := spool.ParseName(arg)
	if name, _, found := strings.Cut(arg, "@"); err != nil && found {
		if _, nerr := spool.ParseName(name); nerr == nil {
			return "", tool.WithHint(err, "a peer is a name without a host: "+name)
		}
	}
	return n, err
}

// openSpool opens the spool, and finds what the handoff answers.
func (s *sending) openSpool() error {
	if s.Bool("no-sync") {
		s.Process.System = s.Process.System.WithoutSync()
	}
	c, err := Open(s.Call)
	if err != nil {
		return err
	}
	s.Caller = c
	s.draft.From = c.Name
	return s.answerTo()
}

// maxConversation is how many ancestors a handoff may have: two programs that
// answer one another for ever stop here.
const maxConversation = 32

// answers makes d an answer to what was typed.
func (c *Caller) answers(d *spool.Draft, typed string) error {
	id, err := c.resolveAny(typed)
	if err != nil {
		return err
	}
	f, _, err := c.Spool.OpenAny(id)
	if err != nil {
		return onID("answer", id, err)
	}
	defer f.Close()
	d.InReplyTo, d.References = id, f.Chain()
	return nil
}

// tooLong is nil where the conversation of d may go on.
func tooLong(d *spool.Draft) error {
	n := len(d.References)
	if n <= maxConversation {
		return nil
	}
	return onID("answer", d.InReplyTo, spool.Because(spool.ErrRefused, fmt.Sprintf("it ends a chain of %d handoffs, and the limit is %d", n, maxConversation)))
}

// answerTo finds what the handoff answers.
func (s *sending) answerTo() error {
	if !s.IsSet("in-reply-to") {
		return nil
	}
	if err := s.answers(&s.draft, s.String("in-reply-to")); err != nil {
		return err
	}
	if err := tooLong(&s.draft); err != nil && !s.Bool("force") {
		return tool.WithHint(err, "is a program answering itself? --force sends it all the same")
	}
	return nil
}

// begin opens a delivery to each peer that can be sent to, with the subject
// and type that the body gives where the flags give none.
func (s *sending) begin() error {
	if dir, err := os.Getwd(); err == nil {
		s.draft.Cwd, _ = spool.ParseValue("cwd", dir)
	}
	if err := s.readBeginning(); err != nil {
		return err
	}
	if s.draft.Type == "" {
		s.draft.Type = typeOf(s.beginning)
	}
	if s.draft.Subject == "" {
		s.draft.Subject = subjectOf(s.beginning)
	}
	if s.draft.Subject == "" {
		return tool.WithHint(tool.Usage("the body has no text to take a subject from"), cmp.Or(s.fileNoPeer(), "give -s TEXT"))
	}
	for _, n := range s.to {
		p := &parcel{to: n, report: spool.Report{To: n, Outcome: spool.NotDelivered}}
		d := s.draft
		d.To = n
		p.w, p.err = s.Spool.NewDelivery(d)
		s.all = append(s.all, p)
	}
	return nil
}

// readBeginning reads as much of the body as a subject is looked for in. The
// buffer grows with it: most bodies are short, and each page of memory that is
// touched costs a send more than a system call.
func (s *sending) readBeginning() error {
	s.beginning = make([]byte, 0, 8<<10)
	for len(s.beginning) < subjectSource {
		at := len(s.beginning)
		if at == cap(s.beginning) {
			s.beginning = slices.Grow(s.beginning, min(3*at, subjectSource-at))
		}
		n, err := s.body.Read(s.beginning[at:min(cap(s.beginning), subjectSource)])
		s.beginning = s.beginning[:at+n]
		if s.whole = err == io.EOF; s.whole {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// end gives up what was not committed, and every wait.
func (s *sending) end() {
	for _, p := range s.all {
		if p.w != nil {
			p.w.Abort()
		}
		if p.stop != nil {
			p.stop()
		}
	}
}

// copyBody reads the body once and writes it to all. What is wrong with the
// body itself is an error for all; what is wrong with one peer's file is that
// peer's.
func (s *sending) copyBody() error {
	if err := s.writeToAll(s.beginning); err != nil {
		return err
	}
	buf := s.beginning[:cap(s.beginning)]
	for !s.whole && s.writable() {
		n, err := s.body.Read(buf)
		if werr := s.writeToAll(buf[:n]); werr != nil {
			return werr
		}
		if s.whole = err == io.EOF; err != nil && !s.whole {
			return err
		}
	}
	return nil
}

func (s *sending) writeToAll(piece []byte) error {
	if len(piece) == 0 {
		return nil
	}
	for _, p := range s.all {
		if p.err != nil {
			continue
		}
		if _, p.err = p.w.Write(piece); errors.Is(p.err, spool.ErrTooLarge) {
			return s.tooLarge(p.err)
		}
	}
	return nil
}

func (s *sending) writable() bool {
	for _, p := range s.all {
		if p.err == nil {
			return true
		}
	}
	return false
}

// tooLarge names the body's whole size where it can be known.
func (s *sending) tooLarge(err error) error {
	e := &spool.Error{Err: err, Hint: "XFER_MAX_BYTES sets the limit"}
	if f := s.String("file"); f != "" && f != "-" {
		info, serr := os.Stat(f)
		limit, lerr := s.Process.System.MaxBytes()
		if serr == nil && lerr == nil && info.Mode().IsRegular() {
			e.Op, e.Name = "send", f
			e.Err = spool.Because(err, fmt.Sprintf("it has %d bytes, and the limit is %d", info.Size(), limit))
		}
	}
	e.Err = nothingSent(e.Err)
	return e
}

// returnAddress makes the mailbox that a task's conclusion comes back to.
func (s *sending) returnAddress() error {
	if s.draft.Kind != spool.Task || !s.writable() {
		return nil
	}
	m, made, err := s.Spool.MakeMailbox(s.Name)
	if err != nil {
		return &spool.Error{Op: "make mailbox", Name: string(s.Name), Err: nothingSent(err)}
	}
	s.tellMailbox(m, made)
	return nil
}
