package command

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"xfer/internal/tool"
	"xfer/spool"
)

// A resume token is the last id of a page and a check over that id and the
// query: one of another query, or with a character changed, is refused, and
// never read as page one.

// ResumeFlag is --resume: the token of the page before.
func ResumeFlag() cli.Flag {
	return &cli.StringFlag{Name: "resume", Usage: "go on where a list was cut short, by its `TOKEN`"}
}

const resumeCheck = 16 // hex digits

// ResumeToken is the token that goes on after id with the query of c.
func ResumeToken(c *Caller, after spool.ID) string { return tokenOf(queryOf(c), after) }

func tokenOf(query string, after spool.ID) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "resume 1\n%s\n%s", query, after))
	return string(after) + "-" + hex.EncodeToString(sum[:])[:resumeCheck]
}

// ResumeAfter reads --resume; empty where it was not given.
func ResumeAfter(c *Caller) (spool.ID, error) {
	if !c.IsSet("resume") {
		return "", nil
	}
	return parseToken(c.String("resume"), queryOf(c))
}

// parseToken is the id in a token of query, which it must be to the letter.
func parseToken(token, query string) (spool.ID, error) {
	text, _, _ := strings.Cut(token, "-")
	id, err := spool.ParseID(text)
	if err != nil || token != tokenOf(query, id) {
		return "", NotAToken()
	}
	return id, nil
}

// NotAToken is the error about a token of another query.
func NotAToken() error {
	return tool.WithHint(tool.Usage("flag \"--resume\": not a token of this query"),
		"a token goes with the very flags of the list it came from; without it the list begins anew")
}

// queryOf is who asks, the verb, and every flag and argument that says what is
// asked for, as it was typed.
func queryOf(c *Caller) string {
	query := []string{}
	for _, name := range c.LocalFlagNames() {
		if len(name) == 1 {
			continue // another name of a flag
		}
		switch name {
		case "resume", "limit", "json", "quiet", "spool", "as", "wait":
			continue
		}
		query = append(query, fmt.Sprintf("%s=%q", name, c.Value(name)))
	}
	for _, arg := range c.Arguments {
		query = append(query, fmt.Sprintf("%q", arg))
	}
	slices.Sort(query)
	return strings.Join(append([]string{c.Program, c.Verb, string(c.Name)}, query...), "\n")
}
