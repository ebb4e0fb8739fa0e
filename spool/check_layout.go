package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"xfer/internal/durable"
)

// layout looks at every name, kind and mode in the tree.
func (c *checker) layout() error {
	return filepath.WalkDir(c.s.dir, func(path string, d fs.DirEntry, err error) error {
		if cerr := c.ctx.Err(); cerr != nil {
			return cerr
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was moved in this moment
		}
		if err != nil {
			c.say(Fault, path, "cannot be read: %v", bare(err))
			return nil
		}
		if isSyncTools(c.s.dir, path) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		c.checkName(path)
		c.checkMode(path, info)
		return nil
	})
}

// isSyncTools tells whether path is what Syncthing keeps in a folder's root:
// its names and modes are its own.
func isSyncTools(root, path string) bool {
	return filepath.Dir(path) == root && strings.HasPrefix(filepath.Base(path), ".st")
}

// checkName wants nothing but 0-9 a-z . _ -, and an info suffix in cur/.
func (c *checker) checkName(path string) {
	name := filepath.Base(path)
	if path == c.s.dir || onlyAlphabet(name) {
		return
	}
	if filepath.Base(filepath.Dir(path)) == string(Cur) {
		if _, ok := parseFile(Cur, name); ok {
			return
		}
	}
	c.say(Warning, path, "its name is none that these programs make")
}

func onlyAlphabet(name string) bool {
	for i := range len(name) {
		switch b := name[i]; {
		case '0' <= b && b <= '9', 'a' <= b && b <= 'z', b == '.', b == '_', b == '-':
		default:
			return false
		}
	}
	return true
}

func (c *checker) checkMode(path string, info fs.FileInfo) {
	want := c.s.fs.File
	switch {
	case info.IsDir():
		want = c.s.fs.Dir
	case !info.Mode().IsRegular():
		c.say(Warning, path, "neither a regular file nor a directory")
		return
	}
	if have := info.Mode() & (fs.ModePerm | fs.ModeSetgid | fs.ModeSetuid); have != want {
		c.say(Warning, path, "its mode is %s and not %s", have, want)
	}
}

// temps counts what is being written or was left by a crash.
func (c *checker) temps() error {
	dirs := []string{c.s.tempDir()}
	for _, m := range c.mailboxes {
		dirs = append(dirs, m.tmpDir())
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.say(Fault, dir, "cannot be read: %v", bare(err))
		}
		count, size := 0, int64(0)
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				count++
				size += info.Size()
			}
		}
		if count > 0 {
			c.say(Note, dir, "%d temp files, %d bytes: being written, or left by a crash", count, size)
		}
	}
	return nil
}

// setAside wants a reason beside whatever stands in bad/.
func (c *checker) setAside() error {
	for _, m := range c.mailboxes {
		names, err := readNames(m.placeDir(Bad))
		if err != nil {
			return err
		}
		for _, name := range names {
			path := filepath.Join(m.placeDir(Bad), name)
			file, isReason := strings.CutSuffix(path, reasonSuffix)
			switch {
			case !isAside(name):
				c.say(Warning, path, "not a name that setting aside gives")
			case isReason:
				if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
					c.say(Note, path, "the reason of something that is not here")
				}
			default:
				if _, err := durable.ReadRegular(path+reasonSuffix, maxReason); err != nil {
					c.say(Warning, path, "set aside without a reason: %v", bare(err))
				}
			}
		}
	}
	return nil
}

// bare is a system error without the path, which the finding names.
func bare(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}
