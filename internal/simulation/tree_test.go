package simulation

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A tree is what a synchronizer sees of one host's spool: paths and contents,
// without what .stignore keeps out.
type tree map[string]string

const absent = "\x00absent"

func (t tree) at(path string) string {
	if content, ok := t[path]; ok {
		return content
	}
	return absent
}

// paths are those of all trees, sorted: a seed means one schedule.
func paths(trees ...tree) []string {
	var all []string
	for _, t := range trees {
		all = slices.AppendSeq(all, maps.Keys(t))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func ignored(rel string) bool {
	parts := strings.Split(rel, "/")
	return parts[0] == "local" || parts[0] == ".stignore" || len(parts) > 2 && parts[0] == "peers" && parts[2] == "tmp"
}

func read(root string) tree {
	t := make(tree)
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if err != nil || ignored(filepath.ToSlash(rel)) {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			if b, err := os.ReadFile(path); err == nil {
				t[filepath.ToSlash(rel)] = string(b)
			}
		}
		return nil
	})
	return t
}

// put gives a path a content on a host as a sync tool does: written beside,
// and renamed over what is there.
func put(root, rel, content string) {
	path := filepath.Join(root, rel)
	if content == absent {
		_ = os.Remove(path)
		return
	}
	_ = os.MkdirAll(filepath.Dir(path), 0o700)
	temp := filepath.Join(filepath.Dir(path), ".syncthing."+filepath.Base(path)+".tmp")
	if os.WriteFile(temp, []byte(content), 0o600) == nil {
		_ = os.Rename(temp, path)
	}
}
