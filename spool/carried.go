package spool

import (
	"path/filepath"
	"slices"
	"strings"
)

// What a sync tool leaves tells that it was there, and where it must not be.

// isSyncTemp tells whether name is that of a sync tool's temp file: Syncthing's
// .syncthing.NAME.tmp, which it removes by itself after a day, or rsync's
// .NAME.XXXXXX.
func isSyncTemp(name string) bool {
	if strings.HasPrefix(name, ".syncthing.") || strings.HasPrefix(name, "~syncthing~") {
		return true
	}
	const random = 6
	dot := len(name) - random - 1
	return dot > 1 && name[0] == '.' && name[dot] == '.' && !strings.Contains(name[dot+1:], ".")
}

// Carried are files in what is this host's own, local/ and the mailboxes' tmp/,
// that only a sync tool can have put there: it carries what it must leave out.
// The paths are below the spool, with slashes, sorted; one a directory.
func (s *Spool) Carried() ([]string, error) {
	dirs := []string{s.localDir(), s.lockDir(), s.tempDir(), s.idsDir(), s.claimsDir(), s.runDir(), s.logDir()}
	peers, err := s.Peers()
	if err != nil {
		return nil, err
	}
	for _, n := range peers {
		dirs = append(dirs, (&Mailbox{s: s, name: n, dir: s.peerDir(n)}).tmpDir())
	}
	var all []string
	for _, dir := range dirs {
		names, err := readNames(dir)
		if err != nil {
			return all, err
		}
		slices.Sort(names)
		for _, name := range names {
			if isSyncTemp(name) || strings.Contains(name, "sync-conflict") {
				rel, err := filepath.Rel(s.dir, filepath.Join(dir, name))
				if err != nil {
					return all, err
				}
				all = append(all, filepath.ToSlash(rel))
				break
			}
		}
	}
	return all, nil
}
