package simulation

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A synchronizer carries some of what changed between two hosts.
type synchronizer interface {
	// step carries each changed path with the given probability: of a rename
	// the new name alone, the old one's end alone, or both.
	step(r *rand.Rand, share float64)
}

// A syncthing keeps what both hosts had in common last: what changed on one
// side is carried, what changed on both is a conflict.
type syncthing struct {
	a, b   string
	common tree
	old    bool // generation 1: a delete loses to a change; 2: the change becomes a conflict copy
	copies int
}

func (s *syncthing) step(r *rand.Rand, share float64) {
	a, b := read(s.a), read(s.b)
	all := paths(a, b, s.common)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, path := range all {
		was, in, on := s.common.at(path), a.at(path), b.at(path)
		switch {
		case in == on:
			s.settle(path, in)
		case r.Float64() > share:
		case on == was:
			put(s.b, path, in)
			s.settle(path, in)
		case in == was:
			put(s.a, path, on)
			s.settle(path, on)
		default:
			s.conflict(r, path, in, on)
		}
	}
}

func (s *syncthing) settle(path, content string) {
	if content == absent {
		delete(s.common, path)
	} else {
		s.common[path] = content
	}
}

// conflict has one version win on both hosts; the other one becomes a conflict
// copy. A delete never wins over a change without leaving one.
func (s *syncthing) conflict(r *rand.Rand, path, in, on string) {
	winner, loser := in, on
	if r.IntN(2) == 0 {
		winner, loser = on, in
	}
	switch {
	case winner == absent && s.old:
		winner, loser = loser, absent
	case loser == absent && !s.old && r.IntN(2) == 0:
		winner, loser = absent, winner
	}
	if loser != absent {
		s.copies++
		ext := filepath.Ext(path)
		copied := fmt.Sprintf("%s.sync-conflict-20261130-%06d-ABCDEFG%s", strings.TrimSuffix(path, ext), s.copies, ext)
		put(s.a, copied, loser)
		put(s.b, copied, loser)
		s.settle(copied, loser)
	}
	put(s.a, path, winner)
	put(s.b, path, winner)
	s.settle(path, winner)
}

// An rsync copies both ways what is missing or newer, and never deletes. It
// goes by times that it gives what it copies, and puts what it replaces of the
// board beside it: rsync -au without /board/, then board/ with -aub.
type rsync struct {
	a, b string
	runs int
}

func (s *rsync) step(r *rand.Rand, share float64) {
	s.runs++
	for _, way := range [][2]string{{s.a, s.b}, {s.b, s.a}} {
		from := read(way[0])
		for _, path := range paths(from) {
			if r.Float64() <= share {
				s.carry(r, way[0], way[1], path, from[path], share)
			}
		}
	}
}

// longAgo is when rsync says that a file is from which it did not finish.
var longAgo = time.Unix(0, 0)

func (s *rsync) carry(r *rand.Rand, from, to, path, content string, share float64) {
	src, err := os.Stat(filepath.Join(from, path))
	if err != nil {
		return
	}
	dst, err := os.Stat(filepath.Join(to, path))
	if err == nil && !dst.ModTime().Before(src.ModTime()) {
		return
	}
	if err == nil && strings.HasPrefix(path, "board/") {
		if old, err := os.ReadFile(filepath.Join(to, path)); err == nil && string(old) != content {
			put(to, fmt.Sprintf("%s.sync-conflict-%d-rsync", path, s.runs), string(old))
		}
	}
	when := src.ModTime()
	if share < 1 && !strings.HasPrefix(path, "board/") && r.IntN(8) == 0 {
		content, when = content[:r.IntN(len(content)+1)], longAgo // --partial, cut off
	}
	put(to, path, content)
	_ = os.Chtimes(filepath.Join(to, path), when, when)
}
