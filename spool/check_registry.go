package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"xfer/internal/durable"
)

// claims looks at the numbers by which this host claimed mailboxes.
func (c *checker) claims() error {
	return c.s.eachBrokenClaim(func(path string, err error) error {
		c.say(Fault, path, MendRepair, "it cannot be read: %s", Cause{err})
		return nil
	})
}

// registry compares this host's registry with what stands in the places.
func (c *checker) registry() error {
	shards, err := readNames(c.s.idsDir())
	if err != nil {
		return err
	}
	for _, name := range shards {
		dir := filepath.Join(c.s.idsDir(), name)
		if name == "key" || strings.HasSuffix(name, ".seg") {
			continue
		}
		if len(name) != 2 || !onlyCrockford(name) {
			c.say(Warning, dir, MendNone, "not a part of the registry")
			continue
		}
		ids, err := readNames(dir)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			if !isID(id) || shard(ID(id)) != name {
				mend := MendNone
				if isID(id) {
					mend = MendRepair
				}
				c.say(Warning, filepath.Join(dir, id), mend, "not an id of this part of the registry")
				continue
			}
			c.registered(ID(id))
		}
	}
	c.unregistered()
	return nil
}

func (c *checker) registered(id ID) {
	path := c.s.idFile(id)
	r, err := c.s.lookup(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			c.say(Note, path, MendRepair, "empty: it counts as absent")
		}
		return
	case errors.Is(err, ErrIncomplete):
		c.say(Warning, path, MendRepair, "incomplete: %s", Cause{err})
		return
	case errors.Is(err, ErrMalformed), notRegular(err):
		c.say(Fault, path, MendRepair, "it is no handoff's: %s", Cause{err})
		return
	case err != nil:
		c.say(Fault, path, MendNone, "%s", Cause{err})
		return
	}
	for _, st := range c.whole[id] {
		if !st.h.Same(&r.Header) {
			c.say(Fault, path, MendNone, "it is not the handoff that has its id: %s", c.s.below(st.path()))
		} else if r.info != nil && st.m.name == r.To && !os.SameFile(st.info, r.info) {
			c.another(path, st)
		}
	}
	if len(c.whole[id]) == 0 && !c.broken[id] {
		c.absent(r, path)
	}
}

// another is about an entry that is another file than the handoff it is of, as
// after a backup was restored: what its body is, only its digest tells.
func (c *checker) another(path string, st standing) {
	if c.deep {
		c.say(Note, path, MendNone, "it is another file than %s, with the same content", c.s.below(st.path()))
		return
	}
	c.say(Note, path, MendNone, "it is another file than %s, with the same header; --deep reads the body too", c.s.below(st.path()))
}

// absent is about an entry whose handoff stands nowhere whole.
func (c *checker) absent(r *registered, path string) {
	m, err := c.s.Mailbox(r.To)
	if err != nil {
		c.say(Note, path, MendNone, "its addressee %s has no mailbox: %s", r.To, Cause{err})
		return
	}
	if f, folded, err := m.folded(r.ID); err == nil && folded && f.Last.Handled() {
		return // finished, and let go
	}
	orphan, err := m.orphan(r)
	switch {
	case err != nil:
		c.say(Fault, path, MendNone, "%s", Cause{err})
	case orphan != "":
		c.say(Note, path, MendNone, "an orphan, written and not published: %s", c.s.below(orphan))
	case r.info != nil && durable.Names(r.info) > 1:
		c.say(Note, path, MendNone, "its handoff stands in no place whole, and its file has another name")
	default:
		c.say(Note, path, MendNone, "its handoff stands in no place")
	}
}

// unregistered is about what was sent from here and the registry does not know.
func (c *checker) unregistered() {
	for id, all := range c.whole {
		if !all[0].h.FromHost.Same(c.s.host) {
			continue
		}
		if _, err := os.Lstat(c.s.idFile(id)); errors.Is(err, fs.ErrNotExist) {
			c.say(Note, all[0].path(), MendRepair, "sent from here, and not in the registry")
		}
	}
}
