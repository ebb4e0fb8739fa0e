package board

import (
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"xfer/spool"
)

// Front matter is kept as the text it is: keys of other tools, comments and
// order survive. Only the four keys that a card has by itself are read.

const (
	fence    = "---"
	maxFront = 64 << 10 // bytes
)

func broken(why string) error { return spool.Because(spool.ErrBrokenCard, why) }

// cutFront splits what lies before the closing fence from the rest.
func cutFront(text string) (front, rest string, err error) {
	line, rest := cutLine(text)
	if trimEnd(line) != fence {
		return "", "", broken("it does not begin with front matter")
	}
	begin := len(text) - len(rest)
	for at := begin; at < len(text); {
		line, rest = cutLine(text[at:])
		if trimEnd(line) == fence {
			return text[begin:at], rest, nil
		}
		if at += len(line) + 1; at-begin > maxFront {
			return "", "", broken("its front matter has more than " + strconv.Itoa(maxFront) + " bytes")
		}
	}
	return "", "", broken("its front matter has no end")
}

// readFront fills in what the front matter says.
func (c *Card) readFront() error {
	for line := range strings.Lines(c.front) {
		if strings.HasPrefix(line, "<<<<<<<") || strings.HasPrefix(line, ">>>>>>>") {
			return broken("its front matter holds a merge conflict")
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(c.front), &doc); err != nil {
		return broken("its front matter is not YAML")
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return broken("its front matter has no keys")
	}
	return c.readKeys(doc.Content[0].Content)
}

func (c *Card) readKeys(nodes []*yaml.Node) error {
	values := make(map[string]string, 4)
	for i := 0; i+1 < len(nodes); i += 2 {
		key, value := nodes[i].Value, nodes[i+1]
		switch key {
		case "id", "title", "created_by", "created_at":
		default:
			continue
		}
		if _, twice := values[key]; twice {
			return broken("its front matter has " + strconv.Quote(key) + " twice")
		}
		if value.Kind != yaml.ScalarNode {
			return broken("its " + strconv.Quote(key) + " is not a plain value")
		}
		values[key] = value.Value
		if value.Tag == "!!null" {
			values[key] = ""
		}
	}
	if values["id"] == "" {
		return broken("its front matter has no id")
	}
	id, err := ParseCardID(values["id"])
	if err != nil {
		return broken("its id " + strconv.Quote(clip(values["id"])) + " is not a name")
	}
	c.ID, c.Title, c.CreatedBy = id, oneLine(values["title"]), oneLine(values["created_by"])
	// A time that cannot be read is as good as none: the key stays what it is.
	c.CreatedAt, _ = time.Parse(time.RFC3339, values["created_at"])
	return nil
}

// newFront is the front matter of a new card.
func newFront(c *Card) (string, error) {
	b, err := yaml.Marshal(&struct {
		ID        string    `yaml:"id"`
		Title     string    `yaml:"title"`
		CreatedBy string    `yaml:"created_by"`
		CreatedAt time.Time `yaml:"created_at"`
	}{string(c.ID), c.Title, c.CreatedBy, c.CreatedAt})
	return string(b), err
}

// lesserFront is the front matter that stands, of two versions of one card.
func lesserFront(a, b *Card) *Card {
	switch {
	case a.CreatedAt.Equal(b.CreatedAt):
		if b.front < a.front {
			return b
		}
		return a
	case a.CreatedAt.IsZero():
		return b
	case b.CreatedAt.IsZero(), a.CreatedAt.Before(b.CreatedAt):
		return a
	}
	return b
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func clip(s string) string {
	const shown = 40
	if len(s) > shown {
		return strings.ToValidUTF8(s[:shown], "") + "…"
	}
	return s
}
