package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"xfer/internal/tool"
	"xfer/spool"
)

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

func parseBatchLine(line []byte) (l batchLine, err error) {
	// What is not UTF-8 would be replaced without a word.
	if !utf8.Valid(line) {
		return l, tool.WithHint(tool.Usage("the line is not UTF-8"), "a body that is not UTF-8 goes into a \"file\"")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err = d.Decode(&l); err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something stands behind the object")
		}
	}
	switch {
	case err != nil:
		return l, tool.Usage("not an object of this form: " + jsonFault(err))
	case (l.Body != nil) == (l.File != ""):
		return l, tool.Usage("a line has either \"body\" or \"file\"")
	case l.ID != "" && l.Key != "":
		return l, tool.Usage("a line has \"id\" or \"key\", not both")
	}
	return l, nil
}

// jsonFault is err without the names of Go.
func jsonFault(err error) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return strings.TrimPrefix(err.Error(), "json: ")
	case wrong.Field == "":
		return "it is a JSON " + wrong.Value
	}
	return strconv.Quote(wrong.Field) + " is a JSON " + wrong.Value
}

// begin reads a line and writes its body. What is wrong with it is the
// parcel's own.
func (s *batching) begin(line []byte) *parcel {
	p := &parcel{line: s.line, report: spool.Report{Outcome: spool.NotDelivered}}
	if p.err = s.fill(p, line); p.err == nil {
		s.filling.Seal(p.w)
		s.before = true
	} else if p.w != nil {
		p.w.Abort()
		p.w = nil
	}
	return p
}

func (s *batching) fill(p *parcel, line []byte) error {
	l, err := parseBatchLine(line)
	if err != nil {
		return err
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
		return tool.Usage("the body has no text to take a subject from")
	}
	if p.w, err = s.filling.Add(draft); err != nil {
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
	if d.Kind = spool.Kind(l.Kind); d.Kind != spool.Task && d.Kind != spool.Notification {
		return d, tool.Usage("kind " + strconv.Quote(l.Kind) + ": task or notification")
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
		err := s.answers(&d, l.InReplyTo)
		if s.before && errors.Is(err, spool.ErrNoHandoff) {
			err = errNotYet
		}
		if err != nil {
			return d, err
		}
		if err := tooLong(&d); err != nil {
			return d, err
		}
	}
	if d.Kind == spool.Task {
		err = s.returnAddress()
	}
	return d, err
}

func (s *batching) returnAddress() error {
	if s.mine {
		return nil
	}
	m, made, err := s.Spool.MakeMailbox(s.Name)
	if err != nil {
		return &spool.Error{Op: "make mailbox", Name: string(s.Name), Err: err}
	}
	s.tellMailbox(m, made)
	s.mine = true
	return nil
}

// open is the body of a line. What is not a regular file could be waited for
// without an end.
func (l *batchLine) open() (io.ReadCloser, error) {
	if l.Body != nil {
		return io.NopCloser(strings.NewReader(*l.Body)), nil
	}
	info, err := os.Stat(l.File)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &spool.Error{Op: "open", Name: l.File, Err: spool.Because(tool.ErrNoFile, "not a regular file")}
	}
	if err != nil {
		return nil, tool.FileError(l.File, err)
	}
	f, err := os.Open(l.File)
	if err != nil {
		return nil, tool.FileError(l.File, err)
	}
	return f, nil
}
