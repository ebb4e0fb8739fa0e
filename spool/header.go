package spool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Header is what a handoff says of itself. It does no I/O.
type Header struct {
	ID         ID
	From       Name
	FromHost   Host
	To         Name
	Subject    string
	Date       time.Time // to the second
	InReplyTo  ID        // empty: it answers nothing
	References []ID      // root first, parent last
	Type       string    // a MIME type
	Kind       Kind
	Ending     Ending // of a conclusion
	Cwd        string // the sender's working directory
	Labels     []Label
	Size       int64 // bytes of body
	Digest     Digest
}

// A Digest is the SHA-256 of a body.
type Digest [sha256.Size]byte

const digestPrefix = "sha256:"

func (d Digest) String() string { return digestPrefix + hex.EncodeToString(d[:]) }

func parseDigest(s string) (d Digest, ok bool) {
	hexes, found := strings.CutPrefix(s, digestPrefix)
	if !found || len(hexes) != 2*len(d) || strings.ToLower(hexes) != hexes {
		return d, false
	}
	_, err := hex.Decode(d[:], []byte(hexes))
	return d, err == nil
}

// Limits of a header, and of one value in it: RFC 5322, section 2.1.1, has 998
// characters a line.
const (
	MaxHeader = 64 << 10 // bytes, blank line included
	maxFields = 64
	maxValue  = 900
	sizeWidth = 12
	idDomain  = "@xfer"
)

// The last two fields are fixed in width: a body of unknown length is streamed
// once, and they are written over before the file is synced.
const tailLen = len("Xfer-Size: \n") + sizeWidth + len("Xfer-Digest: \n") + len(digestPrefix) + 2*sha256.Size + len("\n")

func (h *Header) tail() []byte {
	return fmt.Appendf(nil, "Xfer-Size: %0*d\nXfer-Digest: %s\n\n", sizeWidth, h.Size, h.Digest)
}

// encode is h as it stands on disk, blank line included. Every value has been
// through its Parse function or ParseValue.
func (h *Header) encode() []byte {
	b := make([]byte, 0, 1024)
	field := func(name, value string) {
		if value != "" {
			b = append(append(append(append(b, name...), ": "...), value...), '\n')
		}
	}
	field("From", string(h.From)+"@"+string(h.FromHost))
	field("To", string(h.To)+idDomain)
	field("Subject", h.Subject)
	field("Date", h.Date.UTC().Format(time.RFC1123Z))
	field("Message-ID", messageID(h.ID))
	if h.InReplyTo != "" {
		field("In-Reply-To", messageID(h.InReplyTo))
	}
	refs := make([]string, len(h.References))
	for i, id := range h.References {
		refs[i] = messageID(id)
	}
	field("References", strings.Join(refs, "\n ")) // folded: RFC 5322, section 2.2.3
	field("MIME-Version", "1.0")
	field("Content-Type", h.Type)
	field("Content-Transfer-Encoding", "8bit")
	field("Xfer-Kind", string(h.Kind))
	field("Xfer-Conclusion", string(h.Ending))
	field("Xfer-Cwd", h.Cwd)
	labels := make([]string, len(h.Labels))
	for i, l := range h.Labels {
		labels[i] = string(l)
	}
	field("Xfer-Label", strings.Join(labels, " "))
	return append(b, h.tail()...)
}

func messageID(id ID) string { return "<" + string(id) + idDomain + ">" }

func parseMessageID(s string) (ID, bool) {
	s, a := strings.CutPrefix(s, "<")
	s, b := strings.CutSuffix(s, idDomain+">")
	return ID(s), a && b && isID(s)
}

// ParseValue returns s if a header can hold it in one line: UTF-8 without
// control characters, at most 900 bytes. The error is ErrValue.
func ParseValue(what, s string) (string, error) {
	if why := valueFault(s); why != "" {
		return "", &Error{Op: what, Name: s, Err: Because(ErrValue, why)}
	}
	if len(s) > maxValue {
		return "", &Error{Op: what, Name: s[:40] + "…", Err: Because(ErrValue, fmt.Sprintf("it has %d bytes, at most %d fit", len(s), maxValue))}
	}
	return s, nil
}

func valueFault(s string) string {
	if !utf8.ValidString(s) {
		return "it is not UTF-8"
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "it holds a control character"
	}
	return ""
}

// parseHeader reads the header at the beginning of b, which is at most the
// first MaxHeader bytes of a file, whole telling that it is all of the file.
// bodyAt is where the body begins. The error is ErrIncomplete where more
// bytes could still make it a header, else ErrMalformed.
func parseHeader(b []byte) (h *Header, bodyAt int, err error) {
	end := bytes.Index(b, []byte("\n\n"))
	if bytes.IndexByte(b[:max(end, 0)], 0) >= 0 || end < 0 && bytes.IndexByte(b, 0) >= 0 {
		// A copying tool that lays a file out at full length first shows NULs
		// where the header is to come.
		return nil, 0, Because(ErrIncomplete, "its header holds NUL bytes")
	}
	if end < 0 {
		if len(b) >= MaxHeader {
			return nil, 0, Because(ErrMalformed, fmt.Sprintf("its header is over the limit of %d bytes", MaxHeader))
		}
		return nil, 0, Because(ErrIncomplete, fmt.Sprintf("it ends after %d bytes, within its header", len(b)))
	}
	fields, why := splitFields(string(b[:end]))
	if why == "" {
		h, why = readFields(fields)
	}
	if why != "" {
		return nil, 0, Because(ErrMalformed, why)
	}
	return h, end + 2, nil
}

// splitFields is the header's fields by lower-case name, folded lines joined.
func splitFields(text string) (fields map[string]string, why string) {
	if why := valueFault(strings.ReplaceAll(text, "\n", "")); why != "" {
		return nil, "its header: " + why
	}
	fields = make(map[string]string, 16)
	for more := true; more; {
		var field string
		field, text, more = cutField(text)
		name, value, found := strings.Cut(field, ":")
		if !found || name == "" || strings.ContainsAny(name, " \t\n") {
			return nil, "a line of its header is not a field"
		}
		if len(fields) == maxFields {
			return nil, fmt.Sprintf("its header has more than the limit of %d fields", maxFields)
		}
		key := strings.ToLower(name)
		if _, twice := fields[key]; twice {
			return nil, "its header has the field " + strconv.Quote(clip(name)) + " twice"
		}
		fields[key] = strings.TrimLeft(strings.ReplaceAll(value, "\n", ""), " ")
	}
	return fields, ""
}

// cutField cuts the first field off text, with the lines it is folded into.
func cutField(text string) (field, rest string, more bool) {
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '\n')
		if n < 0 {
			return text, "", false
		}
		if i += n + 1; i == len(text) || text[i] != ' ' {
			return text[:i-1], text[i:], true
		}
	}
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// readFields makes a Header of fields; why names the first that does not fit.
// Fields that it does not know are passed over.
func readFields(fields map[string]string) (h *Header, why string) {
	h = &Header{
		Subject: fields["subject"],
		Type:    fields["content-type"],
		Kind:    Kind(fields["xfer-kind"]),
		Ending:  Ending(fields["xfer-conclusion"]),
		Cwd:     fields["xfer-cwd"],
	}
	ok := true
	check := func(name string, good bool) {
		if ok && !good {
			ok, why = false, "its field "+name+" does not have the form it needs"
		}
	}
	from, host, found := strings.Cut(fields["from"], "@")
	h.From, h.FromHost = Name(from), Host(host)
	check("From", found && nameFault(from) == "" && nameFault(host) == "")
	to, found := strings.CutSuffix(fields["to"], idDomain)
	h.To = Name(to)
	check("To", found && nameFault(to) == "")
	var err error
	h.Date, err = time.ParseInLocation(time.RFC1123Z, fields["date"], time.UTC) // time.Parse would read /etc/localtime
	// JSON has years of four digits, wherever the sender lives.
	check("Date", err == nil && 0 < h.Date.UTC().Year() && h.Date.UTC().Year() <= 9999)
	h.ID, found = parseMessageID(fields["message-id"])
	check("Message-ID", found)
	if s := fields["in-reply-to"]; s != "" {
		h.InReplyTo, found = parseMessageID(s)
		check("In-Reply-To", found)
	}
	for s := range strings.FieldsSeq(fields["references"]) {
		id, found := parseMessageID(s)
		check("References", found)
		h.References = append(h.References, id)
	}
	_, err = ParseKind(string(h.Kind))
	check("Xfer-Kind", err == nil)
	_, err = ParseEnding(string(h.Ending))
	check("Xfer-Conclusion", (h.Kind == Conclusion) == (err == nil) && (h.Kind == Conclusion || h.Ending == ""))
	for s := range strings.FieldsSeq(fields["xfer-label"]) {
		l, err := ParseLabel(s)
		check("Xfer-Label", err == nil)
		h.Labels = append(h.Labels, l)
	}
	size := fields["xfer-size"]
	n, err := strconv.ParseUint(size, 10, 62)
	h.Size = int64(n)
	check("Xfer-Size", err == nil && len(size) == sizeWidth)
	h.Digest, found = parseDigest(fields["xfer-digest"])
	check("Xfer-Digest", found)
	return h, why
}

// Same tells whether two handoffs are the same one: size, digest, To, Kind,
// Ending and the name in From, whatever their dates, subjects and hosts.
func (h *Header) Same(o *Header) bool { return h.sameness() == o.sameness() }

// sameness is what makes two handoffs the same, in one comparable value.
func (h *Header) sameness() string {
	return fmt.Sprintf("%d %s %s %s %s %s", h.Size, h.Digest, h.To, h.Kind, h.Ending, h.From)
}

// Conversation is the id of the root that h descends from: its own where it
// answers nothing.
func (h *Header) Conversation() ID {
	switch {
	case len(h.References) > 0:
		return h.References[0]
	case h.InReplyTo != "":
		return h.InReplyTo
	}
	return h.ID
}
