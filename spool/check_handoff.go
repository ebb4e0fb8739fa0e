package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// handoffs opens everything in every place: whole, under its own id, in its
// addressee's mailbox.
func (c *checker) handoffs() error {
	for _, m := range c.mailboxes {
		if _, err := m.Peer(); err != nil {
			c.say(Fault, m.peerFile(), "%v", bare(err))
		}
		for _, p := range Places {
			l, err := m.scan(p)
			if err != nil {
				return err
			}
			for _, stray := range l.strays {
				c.say(Warning, filepath.Join(m.placeDir(p), stray), "not a handoff's name: it is never delivered")
			}
			for _, e := range l.entries {
				if err := c.ctx.Err(); err != nil {
					return err
				}
				c.handoff(m, e)
			}
		}
	}
	return nil
}

func (c *checker) handoff(m *Mailbox, e entry) {
	path := m.path(e)
	f, err := openFile(path, e.id)
	if err == nil {
		if c.deep {
			_, err = f.Verify()
		}
		_ = f.Close()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), notRegular(err): // moved on, or told as what it is
		return
	case errors.Is(err, ErrIncomplete):
		c.say(Warning, path, "incomplete: %v", err)
		return
	case err != nil:
		c.say(Fault, path, "%v", bare(err))
		return
	}
	c.whole[e.id] = append(c.whole[e.id], standing{m, e, &f.Header, f.info})
	if f.To != m.name && e.place != Bad {
		c.say(Fault, path, "it is addressed to %s", f.To)
	}
	if f.Kind != Task && e.place == Work {
		c.say(Fault, path, "a %s: only a task stands in work/", f.Kind)
	}
}

// doubles wants an id to stand once, and to be one handoff wherever it shows.
func (c *checker) doubles() error {
	for _, all := range c.whole {
		for i, st := range all[1:] {
			before := all[i]
			switch {
			case !st.h.Same(before.h):
				c.say(Fault, st.path(), "another handoff has its id: %s", c.below(before.path()))
			case st.m != before.m:
			case os.SameFile(st.info, before.info):
				c.say(Note, st.path(), "one file in two places, also %s", c.below(before.path()))
			default:
				c.say(Warning, st.path(), "it stands in two places, also %s", c.below(before.path()))
			}
		}
	}
	return nil
}

// conclusions wants at most one conclusion of a task, under the id that it
// has to have, and a concluded task in done/.
func (c *checker) conclusions() error {
	for _, all := range c.whole {
		for _, st := range all {
			switch st.h.Kind {
			case Conclusion:
				if st.h.InReplyTo.Conclusion() != st.e.id {
					c.say(Fault, st.path(), "a conclusion whose id is not that of its task's conclusion")
				}
			case Task:
				c.task(st)
			}
		}
	}
	return nil
}

func (c *checker) task(task standing) {
	var first *Header
	for _, st := range c.whole[task.e.id.Conclusion()] {
		if st.h.ends(task.h) {
			first = st.h
		} else {
			c.say(Warning, st.path(), "it has the id of the conclusion of %s, and does not end it", task.e.id)
		}
	}
	switch place := task.e.place; {
	case place == Bad:
	case first != nil && place != Finished:
		c.say(Note, task.path(), "concluded, and not yet in done/")
	case first == nil && place == Finished:
		c.say(Note, task.path(), "in done/, and its conclusion is not here to be seen")
	}
}
