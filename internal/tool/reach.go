package tool

import "strings"

// Hints speak of commands as '…' that begin with a program's name. Whoever
// reached the spool by --spool needs it there too; the environment is pasted
// along by itself.

// A Command is a command line of the programs that somebody may paste. Said, it
// reaches the spool that this program does.
type Command string

// reach is --spool as it was typed, for a command behind the program's name;
// empty where it was not.
func (l *line) reach() string {
	dir := ""
	for _, s := range l.flags {
		if nameOf(s.flag) == "spool" {
			dir = s.value
		}
	}
	if dir == "" {
		return ""
	}
	return " --spool " + ShellWord(dir)
}

// Reach is --spool as it was typed, for another command behind the program's
// name: " --spool DIR", or nothing.
func (c *Call) Reach() string { return c.Err.reach }

// reaching is a command that reaches the same spool.
func (t *Talk) reaching(c Command) string {
	program, rest, more := strings.Cut(string(c), " ")
	if more {
		rest = " " + rest
	}
	return program + t.reach + rest
}

const quotedProgram = "'xfer-"

// reachingAll is a hint whose commands reach the same spool.
func (t *Talk) reachingAll(hint string) string {
	if t.reach == "" {
		return hint
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(hint, quotedProgram)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexAny(after, " '")
		if end < 0 {
			end = len(after)
		}
		b.WriteString(quotedProgram + after[:end] + t.reach)
		hint = after[end:]
	}
}

// ShellWord is s as a shell takes it for one word, in a command to be pasted.
func ShellWord(s string) string {
	special := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-+,:@", r)
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
