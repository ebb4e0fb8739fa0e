package tool

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// none stands for an empty field, so that a line always has its columns.
const none = "-"

// cell is a field as text; the zero age function gives times in full.
func cell(v any, age func(time.Time) string) string {
	var s string
	switch v := v.(type) {
	case nil:
	case string:
		s = v
	case int:
		s = strconv.Itoa(v)
	case time.Time:
		switch {
		case v.IsZero():
		case age != nil:
			s = age(v)
		default:
			s = v.UTC().Format(time.RFC3339)
		}
	case []string:
		s = strings.Join(v, ",")
	default:
		s = fmt.Sprint(v)
	}
	if s == "" {
		return none
	}
	return Clean(s)
}

func appendRow(buf []byte, fields []any) []byte {
	for i, v := range fields {
		if i > 0 {
			buf = append(buf, '\t')
		}
		buf = append(buf, cell(v, nil)...)
	}
	return append(buf, '\n')
}

// A table aligns rows for a terminal.
type table struct {
	rows   [][]string
	widths []int // of all rows so far, those of earlier pages too
}

func (t *table) add(fields []any, now time.Time) {
	age := func(at time.Time) string { return ageOf(now.Sub(at)) }
	row := make([]string, len(fields))
	for i, v := range fields {
		row[i] = cell(v, age)
		if i == len(t.widths) {
			t.widths = append(t.widths, 0)
		}
		t.widths[i] = max(t.widths[i], utf8.RuneCountInString(row[i]))
	}
	t.rows = append(t.rows, row)
}

// appendTo lays out the rows and forgets them.
func (t *table) appendTo(buf []byte) []byte {
	for _, row := range t.rows {
		for i, s := range row {
			buf = append(buf, s...)
			if i == len(row)-1 {
				break
			}
			for range t.widths[i] - utf8.RuneCountInString(s) + 2 {
				buf = append(buf, ' ')
			}
		}
		buf = append(buf, '\n')
	}
	t.rows = t.rows[:0]
	return buf
}

// ageOf is d in its largest unit; a time in the future has no age yet.
func ageOf(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d"
}
