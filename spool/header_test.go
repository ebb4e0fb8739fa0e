package spool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/mail"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// anyHeader is a header that every Parse function lets pass.
func anyHeader(r *rand.Rand) Header {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	id := func() ID {
		b := []byte{crockford[r.IntN(8)]}
		for range idLen - 1 {
			b = append(b, crockford[r.IntN(32)])
		}
		return ID(b)
	}
	h := Header{
		ID: id(), From: Name(pick("a", "alice", "a.b_c-1")), FromHost: Host(pick("laptop-3fa09c11", "x")), To: "bob",
		Subject: pick("", "s", "a: b", "Prüfe das 漢字 😀", "trailing ", strings.Repeat("x", maxValue), "=?utf-8?q?x?=", "<x@y>"),
		Date:    time.Unix(r.Int64N(4_000_000_000), 0).UTC(), Type: pick("", "text/markdown; charset=utf-8"),
		Kind: Kind(pick(string(Task), string(Notification), string(Conclusion))), Cwd: pick("", "/home/a b/ü"),
		Size: r.Int64N(1e12),
	}
	if h.Kind == Conclusion {
		h.Ending = Ending(pick(string(Done), string(Blocked), string(NeedsInput)))
	}
	if r.IntN(2) == 0 {
		h.InReplyTo = id()
	}
	for range r.IntN(maxChain + 1) {
		h.References = append(h.References, id())
	}
	for range r.IntN(MaxLabels + 1) {
		h.Labels = append(h.Labels, Label(pick("ci", "a:b/c+d=e@f", strings.Repeat("l", maxLabel))))
	}
	for i := range h.Digest {
		h.Digest[i] = byte(r.Uint32())
	}
	return h
}

func TestHeaderRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		h := anyHeader(r)
		b := h.encode()
		got, bodyAt, err := parseHeader(append(bytes.Clone(b), "body\n\n"...))
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		got.Date = got.Date.UTC()
		if bodyAt != len(b) || !reflect.DeepEqual(*got, h) {
			t.Fatalf("body at %d of %d\n got %+v\nwant %+v", bodyAt, len(b), *got, h)
		}
		if tail := h.tail(); len(tail) != tailLen || !bytes.HasSuffix(b, tail) {
			t.Fatalf("the tail has %d bytes, want %d", len(tail), tailLen)
		}
	}
}

func TestNetMailReadsAHeader(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		h := anyHeader(r)
		m, err := mail.ReadMessage(bytes.NewReader(append(h.encode(), "body"...)))
		if err != nil {
			t.Fatalf("%v\n%s", err, h.encode())
		}
		from, err := m.Header.AddressList("From")
		if err != nil || len(from) != 1 || from[0].Address != string(h.From)+"@"+string(h.FromHost) {
			t.Errorf("From is %v, %v", from, err)
		}
		to, err := m.Header.AddressList("To")
		if err != nil || len(to) != 1 || to[0].Address != string(h.To)+"@xfer" {
			t.Errorf("To is %v, %v", to, err)
		}
		if date, err := m.Header.Date(); err != nil || !date.Equal(h.Date) {
			t.Errorf("Date is %v, %v", date, err)
		}
	}
}

// with is a good header with one field changed, or left out where value is "-".
func with(name, value string) []byte {
	lines := strings.Split(string(onDisk(anID, func(h *Header) { h.References = []ID{anID}; h.InReplyTo = anID }, "")), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, name+":") {
			lines[i] = name + ":" + value
			if value == "-" {
				lines = append(lines[:i], lines[i+1:]...)
			}
			return []byte(strings.Join(lines, "\n"))
		}
	}
	panic(name)
}

func TestParseHeaderRefuses(t *testing.T) {
	for name, b := range map[string][]byte{
		"no From":            with("From", "-"),
		"no host":            with("From", " alice"),
		"a name of no form":  with("From", " Alice@here"),
		"a path for a host":  with("From", " alice@../x"),
		"no To":              with("To", "-"),
		"another domain":     with("To", " bob@example.org"),
		"no Date":            with("Date", "-"),
		"a date of no form":  with("Date", " yesterday"),
		"a date beyond time": with("Date", " Fri, 31 Dec 9999 23:59:59 -0100"),
		"no Message-ID":      with("Message-ID", "-"),
		"a bare id":          with("Message-ID", " "+anID),
		"a bad answer":       with("In-Reply-To", " <x@xfer>"),
		"a bad reference":    with("References", " <"+anID+"@xfer> <x@xfer>"),
		"no kind":            with("Xfer-Kind", "-"),
		"an unknown kind":    with("Xfer-Kind", " order"),
		"no ending":          with("Xfer-Kind", " conclusion"),
		"an ending too many": with("MIME-Version", " 1.0\nXfer-Conclusion: done"),
		"a label of no form": with("MIME-Version", " 1.0\nXfer-Label: a,b"),
		"no size":            with("Xfer-Size", "-"),
		"a short size":       with("Xfer-Size", " 0"),
		"a signed size":      with("Xfer-Size", " +00000000000"),
		"a negative size":    with("Xfer-Size", " -00000000001"),
		"no digest":          with("Xfer-Digest", "-"),
		"another digest":     with("Xfer-Digest", " md5:0"),
		"a short digest":     with("Xfer-Digest", " sha256:00"),
		"capitals in it":     with("Xfer-Digest", " sha256:"+strings.Repeat("A", 64)),
		"the same twice":     with("MIME-Version", " 1.0\nto: bob@xfer"),
		"no field":           with("MIME-Version", " 1.0\nhello"),
		"a folded first":     append([]byte(" x: y\n"), with("Subject", "")...),
		"a carriage return":  with("Subject", " a\rb"),
		"a terminal's ESC":   with("Subject", " \x1b[2J"),
		"a C1 control":       with("Subject", " \u009b2J"),
		"not UTF-8":          with("Subject", " \xff"),
		"65 fields":          with("MIME-Version", " 1.0"+extraFields(65)),
		"100,000 fields":     with("MIME-Version", " 1.0"+extraFields(100_000)),
		"an empty header":    []byte("\n\nbody"),
		"one line of 1 MB":   with("Subject", strings.Repeat("x", 1<<20)),
	} {
		if _, _, err := readHeader(bytes.NewReader(b)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// extraFields makes a header that has twelve fields one of n.
func extraFields(n int) string {
	var b strings.Builder
	for i := range n - 12 {
		fmt.Fprintf(&b, "\nX-%d: y", i)
	}
	return b.String()
}

func TestParseHeaderWaits(t *testing.T) {
	good := onDisk(anID, nil, "")
	for name, b := range map[string][]byte{
		"nothing yet":    {},
		"half":           good[:len(good)/2],
		"all but a byte": good[:len(good)-1],
		"NULs to come":   append(bytes.Clone(good[:40]), make([]byte, len(good)-40)...),
		"all NUL":        make([]byte, 2*MaxHeader),
		"a NUL in it":    with("Subject", " a\x00b"),
		"CRLF":           bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")),
	} {
		if _, _, err := readHeader(bytes.NewReader(b)); !errors.Is(err, ErrIncomplete) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestParseHeaderAccepts(t *testing.T) {
	pad := MaxHeader - len(with("Subject", " s"))
	for name, b := range map[string][]byte{
		"64 fields":         with("MIME-Version", " 1.0"+extraFields(64)),
		"64 KiB":            with("Subject", " s"+strings.Repeat("x", pad)),
		"names in any case": bytes.Replace(with("Subject", " s"), []byte("Xfer-Kind"), []byte("xFER-kIND"), 1),
		"an unknown field":  with("MIME-Version", " 1.0\nReceived: from x"),
		"a zone":            with("Date", " Mon, 30 Nov 2026 08:33:33 +0200"),
		"a folded subject":  with("Subject", " a\n b\n  c"),
	} {
		h, bodyAt, err := readHeader(bytes.NewReader(append(bytes.Clone(b), "body"...)))
		if err != nil || bodyAt != len(b) {
			t.Errorf("%s: %v, body at %d of %d", name, err, bodyAt, len(b))
			continue
		}
		if want := onDisk(anID, nil, ""); !h.Date.Equal(mustParse(t, want).Date) {
			t.Errorf("%s: the date is %v", name, h.Date)
		}
	}
	if _, _, err := readHeader(bytes.NewReader(with("Subject", " s"+strings.Repeat("x", pad+1)))); !errors.Is(err, ErrMalformed) {
		t.Errorf("64 KiB and a byte: %v", err)
	}
	if h := mustParse(t, with("Subject", "\n  a\n b")); h.Subject != "a b" {
		t.Errorf("the unfolded subject is %q", h.Subject)
	}
}

func mustParse(t *testing.T, b []byte) *Header {
	t.Helper()
	h, _, err := parseHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// A header made to be expensive costs no more than one of that length.
func TestParseHeaderIsFrugal(t *testing.T) {
	for name, b := range map[string][]byte{
		"folded at each byte": with("Subject", " s"+strings.Repeat("\n ", 31_000)),
		"100,000 fields":      with("MIME-Version", " 1.0"+extraFields(100_000)),
		"references":          with("References", strings.Repeat(" <"+anID+"@xfer>", 1900)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, _ = readHeader(bytes.NewReader(b))
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 2<<20 {
			t.Errorf("%s: %d bytes allocated", name, n)
		}
	}
}

// FuzzParseHeader: nothing makes the parser panic, and what it lets pass is the
// same after it was written and read again.
func FuzzParseHeader(f *testing.F) {
	f.Add(onDisk(anID, nil, "body"))
	f.Add(onDisk(anID, func(h *Header) {
		h.Kind, h.Ending, h.InReplyTo, h.References, h.Labels = Conclusion, Done, anID, []ID{anID, anID}, []Label{"a", "b"}
	}, ""))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, bodyAt, err := readHeader(bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrIncomplete) {
				t.Fatal(err)
			}
			return
		}
		if bodyAt > len(b) || bodyAt > MaxHeader {
			t.Fatalf("the body is at %d of %d", bodyAt, len(b))
		}
		if _, err := json.Marshal(h.Date); err != nil {
			t.Fatal(err)
		}
		again := h.encode()
		if len(again) > MaxHeader {
			return // references on one line take less room than folded
		}
		o, _, err := parseHeader(again)
		if err != nil {
			t.Fatalf("%v\n%q\n%q", err, b, again)
		}
		h.Date, o.Date = h.Date.UTC(), o.Date.UTC()
		if !reflect.DeepEqual(h, o) {
			t.Fatalf("read %+v\nthen %+v", h, o)
		}
	})
}
