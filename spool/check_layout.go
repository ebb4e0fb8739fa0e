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
			c.say(Fault, path, MendNone, "it cannot be read: %s", Cause{err})
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

// checkName wants nothing but 0-9 a-z . _ -.
func (c *checker) checkName(path string) {
	name := filepath.Base(path)
	if path == c.s.dir || onlyAlphabet(name) {
		return
	}
	for _, m := range c.mailboxes {
		for _, p := range Places {
			if filepath.Dir(path) == m.placeDir(p) {
				return // told as a stray, if it is one
			}
		}
	}
	c.say(Warning, path, MendNone, "its name is none that these programs make")
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
		c.say(Warning, path, MendNone, "neither a regular file nor a directory")
		return
	}
	if have := info.Mode() & (fs.ModePerm | fs.ModeSetgid | fs.ModeSetuid); have != want {
		c.say(Warning, path, MendRepair, "its mode is %s and not %s", Setting(have.String()), Setting(want.String()))
	}
	if owner := durable.Owner(info); !c.s.shared && owner != uint32(os.Geteuid()) {
		c.say(Warning, path, MendNone, "it belongs to uid %s, and the spool to uid %s", Figure(owner), Figure(os.Geteuid()))
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
			c.say(Fault, dir, MendNone, "it cannot be read: %s", Cause{err})
		}
		count, size := 0, int64(0)
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				count++
				size += info.Size()
			}
		}
		if count > 0 {
			c.say(Note, dir, MendNone, "being written, or left by a crash: files: %s, bytes: %s", Figure(count), Figure(size))
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
				c.stray(m, Bad, name)
			case isReason:
				if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
					c.say(Note, path, MendNone, "the reason of something that is not here")
				}
			default:
				c.reasoned(path)
			}
		}
	}
	return nil
}

// reasoned wants a reason beside path, unless it was let go in this moment.
func (c *checker) reasoned(path string) {
	_, err := durable.ReadRegular(path+reasonSuffix, maxReason)
	if err == nil {
		return
	}
	if _, gone := os.Lstat(path); gone == nil {
		c.say(Warning, path, MendNone, "set aside without a reason: %s", Cause{err})
	}
}
