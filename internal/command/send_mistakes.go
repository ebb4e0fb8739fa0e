package command

import (
	"errors"
	"os"
	"strconv"

	"xfer/internal/tool"
	"xfer/spool"
)

// What is said where a send is probably not meant as it was typed.

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

// tellRemoved says where a conclusion goes if m, the sender's mailbox, was
// removed. An --await still finds it there.
func (c *Caller) tellRemoved(m *spool.Mailbox) {
	if m.Removed() != nil {
		c.Err.Say("mailbox %q was removed: what comes back is set aside in the mailbox of whoever concludes; '%s' makes yours anew", c.Name, c.typed("create"))
	}
}
