package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A parcel is a record.
type parcel struct {
	ID      string    `json:"id"`
	Count   int       `json:"count"`
	SentAt  time.Time `json:"sent_at,omitzero"`
	Subject string    `json:"subject,omitempty"`
	labels  []string
}

func (p parcel) Fields() []any { return []any{p.ID, p.Count, p.SentAt, p.Subject, p.labels} }

var parcels = []parcel{
	{"aa", 7, noon.Add(-90 * time.Minute).In(time.FixedZone("x", 3600)), "a\tb\n\x1b[2J\u202e", []string{"x", "y"}},
	{"a-long-one", 12345, time.Time{}, "", nil},
}

func list(c *Call) error {
	for _, p := range parcels {
		if c.Out.JSON() {
			p.SentAt = p.SentAt.UTC()
		}
		if err := c.Out.Write(p); err != nil {
			return err
		}
	}
	return nil
}

func TestTextRecords(t *testing.T) {
	equal(t, "run", runProgram(t, single(list)), run{0,
		"aa\t7\t2026-11-30T10:30:00Z\ta\\x09b\\x0a\\x1b[2J\\xe2\\x80\\xae\tx,y\n" +
			"a-long-one\t12345\t-\t-\t-\n", ""})
}

func TestJSONRecords(t *testing.T) {
	equal(t, "run", runProgram(t, single(list), "--json"), run{0,
		`{"id":"aa","count":7,"sent_at":"2026-11-30T10:30:00Z","subject":"a\tb\n\u001b[2J\u202e"}` + "\n" +
			`{"id":"a-long-one","count":12345}` + "\n", ""})
}

func TestTerminalRecords(t *testing.T) {
	tty, screen, _ := terminal(t)
	pr := process(t)
	pr.Stdout = tty
	equal(t, "status", Run(single(func(c *Call) error {
		equal(t, "terminal", c.Out.Terminal(), true)
		return list(c)
	}), pr), 0)
	equal(t, "screen", screen("-\r\n"), ""+
		"aa          7      1h  a\\x09b\\x0a\\x1b[2J\\xe2\\x80\\xae  x,y\n"+
		"a-long-one  12345  -   -                              -\n")
}

func TestAges(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s", 0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59 * time.Minute: "59m", time.Hour: "1h",
		23 * time.Hour: "23h", 24 * time.Hour: "1d", 400 * 24 * time.Hour: "400d",
	} {
		equal(t, d.String(), ageOf(d), want)
	}
}

func TestPagesOfATable(t *testing.T) {
	tty, screen, _ := terminal(t)
	pr := process(t)
	pr.Stdout = tty
	reader := make(chan string)
	go func() { reader <- screen("the last") }()
	Run(single(func(c *Call) error {
		for i := range pageRows + 1 {
			subject := "x"
			if i == pageRows {
				subject = "the last"
			}
			if err := c.Out.Write(parcel{ID: fmt.Sprint("id", i), Subject: subject}); err != nil {
				return err
			}
		}
		return nil
	}), pr)
	lines := strings.Split(<-reader, "\n")
	if len(lines) <= pageRows {
		t.Fatalf("%d lines", len(lines))
	}
	equal(t, "first", lines[0], "id0    0  -  x  -")
	equal(t, "last", strings.HasPrefix(lines[pageRows], "id256  0  -  the last"), true)
}

func TestTruncated(t *testing.T) {
	cut := func(resume string) *Program {
		return single(func(c *Call) error {
			if err := c.Out.Write(parcels[1]); err != nil {
				return err
			}
			return c.Out.Truncated("after 1", resume)
		})
	}
	const row = "a-long-one\t12345\t-\t-\t-\n"
	equal(t, "text", runProgram(t, cut("tok"), "-q"), run{0, row, "xfer-one: list cut short after 1: '--resume tok' goes on\n"})
	equal(t, "no token", runProgram(t, cut("")), run{0, row, "xfer-one: list cut short after 1\n"})
	equal(t, "json", runProgram(t, cut("tok"), "--json"), run{0,
		`{"id":"a-long-one","count":12345}` + "\n" + `{"truncated":true,"reason":"after 1","resume":"tok"}` + "\n", ""})
}

func TestRawFollowsRecords(t *testing.T) {
	got := runProgram(t, single(func(c *Call) error {
		if err := c.Out.Write(parcels[1]); err != nil {
			return err
		}
		if _, err := io.WriteString(c.Out.Raw(), "\x00\x1b"); err != nil {
			return err
		}
		b, err := os.ReadFile(c.Process.Stdout.Name())
		equal(t, "written by now", string(b), "a-long-one\t12345\t-\t-\t-\n\x00\x1b")
		return err
	}))
	equal(t, "status", got.status, 0)
}

func TestFullOutput(t *testing.T) {
	const said = "xfer-one: write to standard output: no space left on device\n"
	for what, act := range map[string]func(*Call) error{
		"at the end":      list,
		"at once":         func(c *Call) error { _, err := c.Out.Raw().Write([]byte("x")); return err },
		"error forgotten": func(c *Call) error { _, _ = c.Out.Raw().Write([]byte("x")); return nil },
		"silent status":   func(c *Call) error { _ = list(c); return Exit(80) },
		"first error stays": func(c *Call) error {
			_ = list(c)
			err := c.Out.Flush()
			if !errors.Is(err, ErrOutput) || !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("flush: %v", err)
			}
			for _, again := range []error{c.Out.Flush(), c.Out.Write(parcels[0]), c.Out.Truncated("x", "")} {
				equal(t, "again", again, err)
			}
			return err
		},
		"many records": func(c *Call) error {
			for range 1 << 20 {
				if err := list(c); err != nil {
					return err
				}
			}
			return errors.New("none failed")
		},
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		pr := process(t)
		pr.Stdout = full
		status := Run(single(act), pr)
		_ = full.Close()
		equal(t, what, run{status, "", content(t, pr.Stderr)}, run{74, "", said})
	}
}

func TestFullOutputAfterAnotherError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	pr := process(t)
	pr.Stdout = full
	status := Run(single(func(c *Call) error { _ = list(c); return Usage("x") }), pr)
	equal(t, "both are told", run{status, "", content(t, pr.Stderr)}, run{64, "", "xfer-one: x\nxfer-one: write to standard output: no space left on device\n"})
}

func TestBrokenPipeIsSilent(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_ = r.Close()
	pr := process(t)
	pr.Stdout = w
	equal(t, "run", run{Run(single(list), pr), "", content(t, pr.Stderr)}, run{status: 141})
}

func TestWritersAtOnce(t *testing.T) {
	const each, writers, row = 200, 4, "a-long-one\t12345\t-\t-\t-\n"
	got := runProgram(t, single(func(c *Call) error {
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range each {
					_ = c.Out.Write(parcels[1])
					_, _ = io.WriteString(c.Out.Raw(), row)
					c.Err.Say("said")
				}
			})
		}
		wg.Wait()
		return nil
	}))
	equal(t, "stdout", got.stdout, strings.Repeat(row, 2*each*writers))
	equal(t, "stderr", strings.Count(got.stderr, "xfer-one: said\n"), each*writers)
}

// A record that cannot be marshalled must not leave half a line.
func TestRecordThatIsNoJSON(t *testing.T) {
	got := runProgram(t, single(func(c *Call) error { return c.Out.Write(broken{}) }), "--json")
	equal(t, "status", got.status, 74)
	equal(t, "stdout", got.stdout, "")
	equal(t, "stderr", bytes.HasPrefix([]byte(got.stderr), []byte(`{"error":"json: `)), true)
}

type broken struct{ C chan int }

func (broken) Fields() []any { return nil }
