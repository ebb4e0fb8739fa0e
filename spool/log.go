package spool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// The event log is for people: local/log/events.jsonl, a JSON object a line, each
// written by one write(2), so that lines of many programs do not mix. It holds
// ids, names, byte counts and outcomes; never a subject or a body. What
// cannot be logged is lost: nothing depends on it.

// An event is one line of the log.
type event struct {
	At      time.Time `json:"at"`
	Event   string    `json:"event"`
	PID     int       `json:"pid"`
	Peer    Name      `json:"peer,omitempty"` // whose mailbox
	ID      ID        `json:"id,omitempty"`
	Kind    Kind      `json:"kind,omitempty"`
	Ending  Ending    `json:"conclusion,omitempty"`
	From    Name      `json:"from,omitempty"`
	Bytes   int64     `json:"bytes,omitempty"`
	Place   Place     `json:"place,omitempty"`
	Outcome Outcome   `json:"outcome,omitempty"`
	Claim   uint64    `json:"claim,omitempty"`
	Detail  string    `json:"detail,omitempty"`
}

// maxDetail is how much of a text that a peer may have written is kept.
const maxDetail = 200

func (s *Spool) logFile() string { return filepath.Join(s.logDir(), "events.jsonl") }

// about fills in what a header says that may be logged.
func (e event) about(h *Header) event {
	e.ID, e.Kind, e.Ending, e.From, e.Bytes = h.ID, h.Kind, h.Ending, h.From, h.Size
	return e
}

func (s *Spool) log(e event) { s.appendLog(s.logLine(e)) }

func (s *Spool) logLine(e event) []byte {
	e.At, e.PID = s.sys.Now().UTC(), os.Getpid()
	if len(e.Detail) > maxDetail {
		e.Detail = e.Detail[:maxDetail]
	}
	return append(e.encode(), '\n')
}

func (s *Spool) appendLog(lines []byte) {
	_ = s.retryMade(func() error { return s.fs.Append(s.logFile(), lines) }, s.localDir(), s.logDir())
}

// encode is e as json.Marshal has it, which in a process of milliseconds takes
// longer to learn a type than to write the line to the disk.
func (e *event) encode() []byte {
	b := make([]byte, 0, 512)
	text := func(name, value string) {
		if value != "" {
			b = append(append(append(b, ',', '"'), name...), '"', ':')
			b = appendJSON(b, value)
		}
	}
	number := func(name string, value uint64) {
		if value != 0 {
			b = append(append(append(b, ',', '"'), name...), '"', ':')
			b = strconv.AppendUint(b, value, 10)
		}
	}
	b = e.At.AppendFormat(append(b, `{"at":"`...), time.RFC3339Nano)
	b = appendJSON(append(b, `","event":`...), e.Event)
	b = strconv.AppendInt(append(b, `,"pid":`...), int64(e.PID), 10)
	text("peer", string(e.Peer))
	text("id", string(e.ID))
	text("kind", string(e.Kind))
	text("conclusion", string(e.Ending))
	text("from", string(e.From))
	number("bytes", uint64(e.Bytes))
	text("place", string(e.Place))
	text("outcome", string(e.Outcome))
	number("claim", e.Claim)
	text("detail", e.Detail)
	return append(b, '}')
}

// appendJSON adds s as a JSON string.
func appendJSON(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, _ := json.Marshal(s) // of a string: there is no error
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

func (m *Mailbox) log(e event) {
	e.Peer = m.name
	if m.batch != nil {
		m.batch.log(m.s.logLine(e))
		return
	}
	m.s.log(e)
}
