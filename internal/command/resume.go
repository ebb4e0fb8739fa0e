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

func resumeFlag() cli.Flag {
	return &cli.StringFlag{Name: "resume", Usage: "go on where a list was cut short, by its `TOKEN`"}
}

const resumeCheck = 16 // hex digits

// resumeToken is the token that goes on after id with the query of c.
func resumeToken(c *caller, after spool.ID) string {
	return string(after) + "-" + queryCheck(c, after)
}

// resumeAfter reads --resume; empty where it was not given.
func resumeAfter(c *caller) (spool.ID, error) {
	if !c.IsSet("resume") {
		return "", nil
	}
	text, check, _ := strings.Cut(c.String("resume"), "-")
	id, err := spool.ParseID(text)
	if err != nil || check != queryCheck(c, id) {
		return "", tool.WithHint(tool.Usage("flag \"--resume\": not a token of this query"),
			"a token goes with the very flags of the list it came from; without it the list begins anew")
	}
	return id, nil
}

// queryCheck binds a token to who asks and to every flag that says what is
// asked for, as it was typed.
func queryCheck(c *caller, id spool.ID) string {
	query := []string{}
	for _, name := range c.LocalFlagNames() {
		switch name {
		case "resume", "limit", "json", "quiet", "spool", "as", "wait":
			continue
		}
		query = append(query, fmt.Sprintf("%s=%q", name, c.Value(name)))
	}
	slices.Sort(query)
	sum := sha256.Sum256(fmt.Appendf(nil, "resume 1\n%s\n%s\n%s\n%s", c.Program, c.me, strings.Join(query, "\n"), id))
	return hex.EncodeToString(sum[:])[:resumeCheck]
}
