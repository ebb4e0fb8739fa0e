package spool

import "path/filepath"

// Every path of the tree is made here and nowhere else.

func (s *Spool) versionFile() string          { return filepath.Join(s.dir, "xfer-spool") }
func (s *Spool) ignoreFile() string           { return filepath.Join(s.dir, ".stignore") }
func (s *Spool) peersDir() string             { return filepath.Join(s.dir, "peers") }
func (s *Spool) peerDir(n Name) string        { return filepath.Join(s.dir, "peers", string(n)) }
func (s *Spool) boardDir() string             { return filepath.Join(s.dir, "board") }
func (s *Spool) seenDir() string              { return filepath.Join(s.dir, "board", "seen") }
func (s *Spool) localDir() string             { return filepath.Join(s.dir, "local") }
func (s *Spool) selfFile() string             { return filepath.Join(s.dir, "local", "self") }
func (s *Spool) tempDir() string              { return filepath.Join(s.dir, "local", "tmp") }
func (s *Spool) docsDir() string              { return filepath.Join(s.dir, "local", "docs") }
func (s *Spool) lockDir() string              { return filepath.Join(s.dir, "local", "lock") }
func (s *Spool) awaitDir() string             { return filepath.Join(s.dir, "local", "await") }
func (s *Spool) releasedDir() string          { return filepath.Join(s.dir, "local", "released") }
func (s *Spool) claimsDir() string            { return filepath.Join(s.dir, "local", "claims") }
func (s *Spool) runDir() string               { return filepath.Join(s.dir, "local", "run") }
func (s *Spool) logDir() string               { return filepath.Join(s.dir, "local", "log") }
func (s *Spool) idsDir() string               { return filepath.Join(s.dir, "local", "ids") }
func (s *Spool) shardDir(id ID) string        { return filepath.Join(s.idsDir(), shard(id)) }
func (s *Spool) idFile(id ID) string          { return filepath.Join(s.shardDir(id), string(id)) }
func (s *Spool) idLock(id ID) string          { return filepath.Join(s.lockDir(), "id."+shard(id)) }
func (s *Spool) peerLock(n Name) string       { return filepath.Join(s.lockDir(), "peer."+string(n)) }
func (s *Spool) gcLock() string               { return filepath.Join(s.lockDir(), "gc") }
func (s *Spool) claimLock(n Name) string      { return filepath.Join(s.lockDir(), "claim."+string(n)) }
func (s *Spool) claimFile(n Name) string      { return filepath.Join(s.claimsDir(), string(n)) }
func (s *Spool) runFile(id ID) string         { return filepath.Join(s.runDir(), string(id)) }
func (s *Spool) awaitFile(id ID) string       { return filepath.Join(s.awaitDir(), string(id)) }
func (s *Spool) boardFile(name string) string { return filepath.Join(s.boardDir(), name) }
func (s *Spool) seenFile(name string) string  { return filepath.Join(s.seenDir(), name) }
func (s *Spool) tempFile(name string) string  { return filepath.Join(s.tempDir(), name) }
func (s *Spool) lockFile(name string) string  { return filepath.Join(s.lockDir(), name) }
func (s *Spool) releasedFile(id ID) string {
	return filepath.Join(s.releasedDir(), string(id))
}

func (m *Mailbox) tmpDir() string             { return filepath.Join(m.dir, "tmp") }
func (m *Mailbox) placeDir(p Place) string    { return filepath.Join(m.dir, string(p)) }
func (m *Mailbox) file(p Place, id ID) string { return filepath.Join(m.dir, string(p), string(id)) }
func (m *Mailbox) pastDir() string            { return filepath.Join(m.dir, "past") }
func (m *Mailbox) liveDir() string            { return filepath.Join(m.dir, "live") }
func (m *Mailbox) liveFile(h Host) string     { return filepath.Join(m.dir, "live", string(h)+".json") }
func (m *Mailbox) peerFile() string           { return filepath.Join(m.dir, "peer.json") }
func (m *Mailbox) tmpFile(id ID, suffix string) string {
	return filepath.Join(m.dir, "tmp", string(id)+"."+suffix)
}

// shard is what ids are spread by: their last two characters, which are
// random where the first are time.
func shard(id ID) string { return string(id[idLen-2:]) }
