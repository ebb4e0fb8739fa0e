package board

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"xfer/internal/durable"
	"xfer/spool"
)

// A listing is the names in board/.
type listing struct {
	cards  []CardID            // sorted
	copies map[CardID][]string // conflict copies, sorted
	strays []string            // what is neither, nor the cursors'
}

const (
	conflictMark = ".sync-conflict-"
	rsyncSuffix  = "rsync"
	cursorsName  = "seen"
)

func (b *Board) names() (*listing, error) {
	all, err := dirNames(b.h.Dir())
	if err != nil {
		return nil, err
	}
	l := &listing{copies: make(map[CardID][]string)}
	for _, name := range all {
		id, isCopy := parseName(name)
		switch {
		case id == "":
			if name != cursorsName {
				l.strays = append(l.strays, name)
			}
		case isCopy:
			l.copies[id] = append(l.copies[id], name)
		default:
			l.cards = append(l.cards, id)
		}
	}
	return l, nil
}

// parseName is the card that a name in board/ belongs to. Syncthing names a
// conflict copy CARD.sync-conflict-DATE-TIME-DEVICE.md; rsync, with the suffix
// that this spool asks for, CARD.md.sync-conflict-rsync, and a copy of a copy
// has the mark twice.
func parseName(name string) (id CardID, isCopy bool) {
	base, rest, isCopy := strings.Cut(name, conflictMark)
	trimmed := strings.TrimSuffix(base, ".md")
	if isCopy && !strings.HasSuffix(rest, ".md") && !strings.HasSuffix(rest, rsyncSuffix) || !isCopy && trimmed == base {
		return "", false
	}
	n, err := spool.ParseName(trimmed)
	if err != nil {
		return "", false
	}
	return CardID(n), isCopy
}

// dirNames are the names in a directory, sorted; none where it is not there.
func dirNames(dir string) ([]string, error) {
	f, err := durable.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// ids are the cards that a listing knows of: of some there are only copies.
func (l *listing) ids() []CardID {
	all := slices.Clone(l.cards)
	for id := range l.copies {
		all = append(all, id)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A leftover is a file in local/tmp/ that a crash left at the name
// card.CARD.RANDOM: a version of the card, whole, that was to be swapped in or
// had been swapped out. RANDOM begins with the digests of the version that its
// writer had read, and of the one it wrote, where a program of this package
// wrote it.
type leftover struct {
	name        string
	card        CardID
	read, wrote string
}

const (
	leftoverPrefix = "card."
	digestLen      = 16 // hex digits
)

// leftovers are those of one card; of all where id is empty.
func (b *Board) leftovers(id CardID) ([]leftover, error) {
	names, err := dirNames(b.h.TempDir())
	if err != nil {
		return nil, err
	}
	var all []leftover
	for _, name := range names {
		if l, ok := parseLeftover(name); ok && (id == "" || l.card == id) {
			all = append(all, l)
		}
	}
	return all, nil
}

func parseLeftover(name string) (leftover, bool) {
	rest, ok := strings.CutPrefix(name, leftoverPrefix)
	id, random, good := cutRandom(rest)
	if !ok || !good {
		return leftover{}, false
	}
	l := leftover{name: name, card: id}
	if len(random) > 2*digestLen {
		l.read, l.wrote = random[:digestLen], random[digestLen:2*digestLen]
	}
	return l, true
}

// cutRandom reads CARD.RANDOM.
func cutRandom(s string) (id CardID, random string, ok bool) {
	random = strings.TrimPrefix(filepath.Ext(s), ".")
	id = CardID(strings.TrimSuffix(s, "."+random))
	_, err := spool.ParseName(string(id))
	return id, random, err == nil && random != ""
}

const (
	editPrefix = "edit."
	editSuffix = ".md"
)

// editName is the name of an editor's copy: it ends as a card does, so that the
// editor knows what it is.
func editName(id CardID, random string) string {
	return editPrefix + string(id) + "." + random + editSuffix
}

func parseEdit(name string) (CardID, bool) {
	rest, begins := strings.CutPrefix(name, editPrefix)
	rest, ends := strings.CutSuffix(rest, editSuffix)
	id, _, ok := cutRandom(rest)
	return id, begins && ends && ok
}
