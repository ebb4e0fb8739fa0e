package tool

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"xfer/spool"
)

// Usage is an error of class "usage" with this text.
func Usage(text string) error { return spool.Because(ErrUsage, text) }

func flagError(typed, why string) error {
	return Usage("flag " + strconv.Quote(typed) + ": " + why)
}

// readValue checks a value by the type of its flag, so that each kind of
// mistake has one wording, and returns it as urfave/cli reads it.
func readValue(f cli.Flag, typed, value string) (string, error) {
	bad := func(why string) (string, error) {
		return "", flagError(typed, strconv.Quote(value)+" "+why)
	}
	switch f.(type) {
	case *cli.BoolFlag:
		on, err := strconv.ParseBool(value)
		if err != nil {
			return bad("is neither true nor false")
		}
		return strconv.FormatBool(on), nil
	case *cli.IntFlag, *cli.Int64Flag:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return bad(numberFault(err))
		}
		return strconv.FormatInt(n, 10), nil
	case *cli.UintFlag, *cli.Uint64Flag:
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return bad(numberFault(err))
		}
		return strconv.FormatUint(n, 10), nil
	case *cli.DurationFlag:
		d, err := ParseDuration(value)
		if err != nil {
			return "", WithHint(flagError(typed, err.Error()), durationHint)
		}
		return d.String(), nil
	}
	return value, nil
}

func numberFault(err error) string {
	if errors.Is(err, strconv.ErrRange) {
		return "is out of range"
	}
	return "is not a whole number"
}

// valueError words what urfave/cli says of a value that it could not read;
// the flag package gives it no type.
func (l *line) valueError(err error) error {
	for _, s := range l.flags {
		prefix := fmt.Sprintf("invalid value %q for flag -%s: ", s.value, nameOf(s.flag))
		if why, ok := strings.CutPrefix(err.Error(), prefix); ok {
			return flagError(s.typed, strconv.Quote(s.value)+": "+why)
		}
	}
	return Usage(err.Error())
}

const (
	durationHint = "such as 90, 1m30s, 12h or 30d"
	timeHint     = "such as 2026-11-30T06:33:33Z, 2026-11-30, today, yesterday or 12h"
)

// ParseDuration reads Go's form of a duration, which may have days ("1d12h"),
// or a bare number of seconds. The error is ErrUsage; nothing negative is a
// duration here.
func ParseDuration(s string) (time.Duration, error) {
	if strings.HasPrefix(s, "-") {
		return 0, Usage(strconv.Quote(s) + " is negative")
	}
	bad := Usage(strconv.Quote(s) + " is not a duration")
	if s == "" || strings.ContainsAny(s, "+-") {
		return 0, bad
	}
	rest := s
	if strings.Trim(s, ".0123456789") == "" {
		rest += "s"
	}
	days, rest, err := cutDays(rest)
	if err != nil {
		return 0, bad
	}
	var d time.Duration
	if rest != "" {
		if d, err = time.ParseDuration(rest); err != nil {
			return 0, bad
		}
	}
	whole := days * float64(24*time.Hour)
	if whole >= float64(math.MaxInt64-d) {
		return 0, bad
	}
	return d + time.Duration(whole), nil
}

// cutDays takes the numbers before a "d" out of s, and adds them up.
func cutDays(s string) (days float64, rest string, err error) {
	rest = s
	for {
		i := strings.IndexByte(rest, 'd')
		if i < 0 {
			return days, rest, nil
		}
		from := i
		for from > 0 && (rest[from-1] == '.' || '0' <= rest[from-1] && rest[from-1] <= '9') {
			from--
		}
		n, err := strconv.ParseFloat(rest[from:i], 64)
		if err != nil {
			return 0, "", err
		}
		days += n
		rest = rest[:from] + rest[i+1:]
	}
}

// ParseTime reads an RFC 3339 time, a date (its midnight, where now is),
// "today", "yesterday", or a duration before now. The error is ErrUsage.
func ParseTime(s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, nil
	}
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch s {
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	d, err := ParseDuration(s)
	if err != nil {
		return time.Time{}, Usage(strconv.Quote(s) + " is not a time")
	}
	return now.Add(-d), nil
}

// TimeFlag reads a string flag as a time; zero where it was not given. The
// error is ErrUsage and names the flag.
func (c *Call) TimeFlag(name string) (time.Time, error) {
	if !c.IsSet(name) {
		return time.Time{}, nil
	}
	t, err := ParseTime(c.String(name), c.Process.System.Now())
	if err != nil {
		return t, WithHint(flagError("--"+name, err.Error()), timeHint)
	}
	return t, nil
}

// WordFlag reads a string flag that takes one of words; empty where it was
// not given. The error is ErrUsage and names the flag.
func (c *Call) WordFlag(name string, words ...string) (string, error) {
	if !c.IsSet(name) {
		return "", nil
	}
	return c.String(name), oneOf(name, c.String(name), words)
}

// WordsFlag reads a string-slice flag that takes any of words, separated by
// commas, given once or more. The error is ErrUsage and names the flag.
func (c *Call) WordsFlag(name string, words ...string) ([]string, error) {
	var got []string
	for _, list := range c.StringSlice(name) {
		for _, w := range strings.Split(list, ",") {
			if err := oneOf(name, w, words); err != nil {
				return nil, err
			}
			got = append(got, w)
		}
	}
	return got, nil
}

func oneOf(name, word string, words []string) error {
	if slices.Contains(words, word) {
		return nil
	}
	return flagError("--"+name, strconv.Quote(word)+" is none of "+strings.Join(words, ", "))
}
