package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"xfer/internal/durable"
)

// ignored are the lines that keep a Syncthing from carrying what is one
// host's own, below the folder's root at prefix. (?d) lets a removed
// directory go although something ignored is left in it.
func ignored(prefix string) []string {
	return []string{"(?d)" + prefix + "/local", "(?d)" + prefix + "/peers/*/tmp"}
}

const maxIgnore = 1 << 20

// writeIgnore makes .stignore, or puts our lines on top of one that lacks
// them: in it the first pattern that fits decides.
func (s *Spool) writeIgnore() error {
	old, err := durable.ReadRegular(s.ignoreFile(), maxIgnore)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines := missingLines(string(old), ignored(""))
	if len(lines) == 0 {
		return nil
	}
	data := []byte(strings.Join(lines, "\n") + "\n" + string(old))
	// local/tmp may not exist yet: it must not before this file does.
	beside := s.fs
	beside.Temp = s.dir
	return beside.Replace(s.ignoreFile(), data, true)
}

func missingLines(text string, want []string) []string {
	have := strings.Split(text, "\n")
	for i := range have {
		have[i] = strings.TrimSpace(have[i])
	}
	return slices.DeleteFunc(slices.Clone(want), func(line string) bool { return slices.Contains(have, line) })
}

// checkFolder refuses to make a spool below a Syncthing folder whose .stignore
// lets local/ travel: .stignore works in the folder's root only.
func checkFolder(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for root := filepath.Dir(abs); ; root = filepath.Dir(root) {
		if _, err := os.Lstat(filepath.Join(root, ".stfolder")); err == nil {
			rel, err := filepath.Rel(root, abs)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(filepath.Join(root, ".stignore"))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if lines := missingLines(string(text), ignored("/"+rel)); len(lines) > 0 {
				return &Error{Op: "make spool", Name: dir, Err: Because(ErrConfig, "it lies in the Syncthing folder "+root+", whose .stignore lets its local/ travel"),
					Hint: "put on top of " + filepath.Join(root, ".stignore") + ": " + strings.Join(lines, " and ")}
			}
			return nil
		}
		if root == filepath.Dir(root) {
			return nil
		}
	}
}
