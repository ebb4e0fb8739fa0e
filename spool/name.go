package spool

import (
	"strconv"
	"strings"
)

// A Name is a peer's name: 1 to 64 of a-z 0-9 . _ -, first a letter or digit,
// last not a dot, no two dots in a row, no Windows device name, and nothing
// that a sync tool would take for a conflict copy. There are no capitals, so
// that a case-folding filesystem cannot merge two peers. Made by ParseName
// only.
type Name string

const maxName = 64

// ParseName returns s as a Name. The error is ErrName with the rule it broke.
func ParseName(s string) (Name, error) {
	if why := nameFault(s); why != "" {
		return "", &Error{Op: "name", Name: s, Err: Because(ErrName, why)}
	}
	return Name(s), nil
}

func nameFault(s string) string {
	switch {
	case s == "":
		return "a name cannot be empty"
	case len(s) > maxName:
		return "a name has at most " + strconv.Itoa(maxName) + " characters"
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case c == '.' || c == '_' || c == '-':
			if i == 0 {
				return "a name begins with a letter or a digit"
			}
		default:
			return "a name has only a-z, 0-9, '.', '_' and '-'"
		}
	}
	switch {
	case s[len(s)-1] == '.':
		return "a name cannot end with a dot"
	case strings.Contains(s, ".."):
		return "a name cannot hold two dots in a row"
	case strings.Contains(s, "sync-conflict"):
		return "a sync tool would take the name for a conflict copy"
	case windowsDevice(s):
		return "the name is that of a Windows device"
	}
	return ""
}

// windowsDevice tells whether Windows would open a device for s, whatever
// follows its first dot ("Naming Files, Paths, and Namespaces", Microsoft).
func windowsDevice(s string) bool {
	base, _, _ := strings.Cut(s, ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) &&
		'0' <= base[3] && base[3] <= '9'
}
