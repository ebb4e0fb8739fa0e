package tool

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// Clean is s with nothing in it that a terminal acts upon, or that ends a
// line: each byte of a control character (C0, DEL, C1), of one that turns the
// direction of writing, of a Unicode line end, and of what is not UTF-8, is
// \xNN instead.
func Clean(s string) string {
	i := 0
	for i < len(s) && ' ' <= s[i] && s[i] < 0x7f {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if harmful(r) || r == utf8.RuneError && n == 1 {
			for _, c := range []byte(s[i : i+n]) {
				b.WriteString(`\x`)
				b.WriteByte(hex[c>>4])
				b.WriteByte(hex[c&15])
			}
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func harmful(r rune) bool {
	switch {
	case r < ' ', 0x7f <= r && r <= 0x9f:
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f:
		return true
	case 0x2028 <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return true
	}
	return false
}

// JSON is v on one line, with its newline. What Clean escapes is escaped here
// as \u00NN, so that the line is safe on a terminal too.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	line := b.Bytes()
	return append(escapeJSON(line[:len(line)-1]), '\n'), nil
}

// escapeJSON relies on encoding/json having left such characters inside of
// strings only.
func escapeJSON(p []byte) []byte {
	if !bytes.ContainsFunc(p, harmful) {
		return p
	}
	out := make([]byte, 0, len(p)+32)
	for _, r := range string(p) {
		if harmful(r) {
			out = append(out, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}
