package tool

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0": 0, "90": 90 * time.Second, "1.5": 1500 * time.Millisecond, "1m30s": 90 * time.Second, "30d": 720 * time.Hour,
		"1.5d": 36 * time.Hour, "1d12h": 36 * time.Hour, "12h1d": 36 * time.Hour, "1d1d": 48 * time.Hour, "5ms": 5 * time.Millisecond,
		"0d": 0, "5µs": 5 * time.Microsecond,
	} {
		got, err := ParseDuration(s)
		if got != want || err != nil {
			t.Errorf("%q: %s, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "x", "d", ".", ".d", "+5", "-5", "-1d", "1d-5h", "1h30", "5 s", "1e5", "1dd", "1.2.3", "Inf", "NaNd", "200000d", "99999999999999999999d", "9999999999999999h", "٣"} {
		if got, err := ParseDuration(s); !errors.Is(err, ErrUsage) {
			t.Errorf("%q: %s, %v", s, got, err)
		}
	}
	if _, err := ParseDuration("-5"); err == nil || err.Error() != `"-5" is negative` {
		t.Error(err)
	}
}

func TestParseTime(t *testing.T) {
	zone := time.FixedZone("here", 2*3600)
	now := time.Date(2026, 3, 1, 1, 2, 3, 0, zone)
	for s, want := range map[string]string{
		"2026-11-30T06:33:33Z":      "2026-11-30T06:33:33Z",
		"2026-11-30T06:33:33+05:00": "2026-11-30T01:33:33Z",
		"2026-11-30":                "2026-11-29T22:00:00Z",
		"today":                     "2026-02-28T22:00:00Z",
		"yesterday":                 "2026-02-27T22:00:00Z",
		"1d2h":                      "2026-02-27T21:02:03Z",
		"3":                         "2026-02-28T23:02:00Z",
	} {
		got, err := ParseTime(s, now)
		if err != nil {
			t.Error(err)
		}
		equal(t, s, got.UTC().Format(time.RFC3339), want)
	}
	for _, s := range []string{"", "soon", "2026-13-01", "-1h", "tomorrow"} {
		if got, err := ParseTime(s, now); !errors.Is(err, ErrUsage) {
			t.Errorf("%q: %s, %v", s, got, err)
		}
	}
}

func TestReadFlags(t *testing.T) {
	read := func(c *Call) error {
		at, err := c.TimeFlag("since")
		if err != nil {
			return err
		}
		kind, err := c.WordFlag("kind", "task", "notification")
		if err != nil {
			return err
		}
		labels, err := c.WordsFlag("label", "x", "y", "z")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.Out.Raw(), "%s %q %q", at.Format(time.RFC3339), kind, labels)
		return err
	}
	for _, c := range []struct {
		args []string
		want run
	}{
		{nil, run{0, `0001-01-01T00:00:00Z "" []`, ""}},
		{[]string{"--since", "1h", "-k", "task", "--label", "x,y", "--label=z"}, run{0, `2026-11-30T11:00:00Z "task" ["x" "y" "z"]`, ""}},
		{[]string{"--since", "soon"}, run{64, "", "xfer-one: flag \"--since\": \"soon\" is not a time\n" +
			"xfer-one: hint: such as 2026-11-30T06:33:33Z, 2026-11-30, today, yesterday or 12h\n"}},
		{[]string{"--kind", ""}, run{64, "", "xfer-one: flag \"--kind\": \"\" is none of task, notification\n"}},
		{[]string{"--label", "x,\x1b"}, run{64, "", "xfer-one: flag \"--label\": \"\\x1b\" is none of x, y, z\n"}},
	} {
		equal(t, fmt.Sprint(c.args), runProgram(t, single(read), c.args...), c.want)
	}
}
