package command

import (
	"errors"
	"os"
	"strconv"

	"xfer/internal/tool"
	"xfer/spool"
)

// What is said where a send is probably not meant as it was typed.

// nowhere is where the spool would be if err is that nothing is there.
func (s *sending) nowhere(err error) (dir string, nothing bool) {
	dir, _, derr := s.SpoolDir()
	if derr != nil || !errors.Is(err, spool.ErrNoSpool) {
		return "", false
	}
	_, serr := os.Lstat(dir)
	return dir, errors.Is(serr, os.ErrNotExist)
}

// nobodyAt answers for each PEER where there is no spool at dir: it has no
// peers, and is not made to say so.
func (s *sending) nobodyAt(dir string) error {
	failures := s.Failures()
	for _, n := range s.to {
		if err := s.answer(newOutcomeRecord(spool.Report{To: n, Outcome: spool.NotDelivered}, spool.ErrNoPeer)); err != nil {
			return err
		}
		failures.Add(tool.WithHint(&spool.Error{Op: "send to", Name: string(n), Err: spool.ErrNoPeer},
			"there is no spool at "+dir+" yet: 'xfer-inbox --as "+string(n)+" create' makes it, with that mailbox"))
	}
	return failures.Err()
}

// fileHint is what to type where arg, given as a PEER, names a file; empty
// where it does not, or -f names the body.
func (s *sending) fileHint(arg string) string {
	info, err := os.Stat(arg)
	if err != nil || !info.Mode().IsRegular() || s.IsSet("file") {
		return ""
	}
	return strconv.Quote(arg) + " is a file here: -f " + tool.ShellWord(arg) + " sends it"
}

// fileNoPeer is the fileHint of the first PEER that names a file and no peer.
func (s *sending) fileNoPeer() string {
	for _, n := range s.to {
		if _, err := s.Spool.Mailbox(n); errors.Is(err, spool.ErrNoPeer) {
			if hint := s.fileHint(string(n)); hint != "" {
				return hint
			}
		}
	}
	return ""
}

// tellMailbox says that m, the sender's mailbox, was made, and where a
// conclusion goes if it was removed. An --await still finds it there.
func (c *Caller) tellMailbox(m *spool.Mailbox, made bool) {
	if made {
		tellCreated(c.Call, c.Name)
	}
	if m.Removed() != nil {
		c.Err.Say("mailbox %q was removed: what comes back is set aside in the mailbox of whoever concludes; '%s' makes yours anew", c.Name, c.typed("create"))
	}
}
