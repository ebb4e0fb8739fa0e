package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// handoffs opens everything in every place: whole, under its own id, in its
// addressee's mailbox.
func (c *checker) handoffs() error {
	for _, m := range c.mailboxes {
		if _, err := m.Peer(); err != nil {
			c.policy(m, err)
		}
		for _, p := range Places {
			l, err := m.scan(p)
			if err != nil {
				return err
			}
			for _, stray := range l.strays {
				c.stray(m, p, stray)
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

// policy is about a peer.json that cannot be read, or has a conflict copy.
func (c *checker) policy(m *Mailbox, err error) {
	c.say(Fault, m.peerFile(), MendPolicy, "nobody is let in: it, or a conflict copy beside it: %s", Cause{err})
	c.found[len(c.found)-1].Peer = m.name
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
	case err != nil:
		c.broken[e.id] = true
	}
	switch {
	case errors.Is(err, ErrIncomplete):
		c.incomplete(m, e)
		return
	case errors.Is(err, ErrMalformed) && e.place.unfinished():
		c.say(Fault, path, c.mends(m), "it breaks the format")
		return
	case err != nil:
		c.say(Fault, path, MendNone, "%s", Cause{err})
		return
	}
	c.whole[e.id] = append(c.whole[e.id], standing{m, e, &f.Header, f.info})
	if f.To != m.name && e.place != Bad {
		mend := MendNone
		if e.place.unfinished() {
			mend = c.mends(m)
		}
		c.say(Fault, path, mend, "it is addressed to %s", f.To)
	}
	if f.Kind != Task && e.place == Work {
		c.say(Fault, path, MendNone, "a %s: only a task stands in work/", f.Kind)
	}
}

// unfinished tells whether gc settles what is wrong in p.
func (p Place) unfinished() bool { return p == New || p == Cur || p == Work }

// young is how long what a sync tool brings may be on its way.
const young = 36 * time.Hour

// incomplete is about what is shorter than it says: for a while it may be on its
// way.
func (c *checker) incomplete(m *Mailbox, e entry) {
	mend := MendNone
	switch {
	case e.place.unfinished() && c.old(m.path(e)):
		mend = c.mends(m)
	case e.place.unfinished():
		mend = MendWait
	}
	c.say(Warning, m.path(e), mend, "incomplete: %s", Cause{ErrIncomplete})
}

func (c *checker) stray(m *Mailbox, p Place, name string) {
	path := filepath.Join(m.placeDir(p), name)
	mend := MendNone
	if idWithin(name) != "" && c.old(path) {
		mend = c.mends(m)
	}
	if isSyncTemp(name) && !c.old(path) {
		c.say(Note, path, mend, "a sync tool's temp file: being written, or left by it for a while")
		return
	}
	c.say(Warning, path, mend, "not a handoff's name: it is never delivered")
}

func (c *checker) old(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && c.s.sys.Now().Sub(newest(info)) > young
}

// doubles wants an id to stand once, and to be one handoff wherever it shows.
func (c *checker) doubles() error {
	for _, all := range c.whole {
		for i, st := range all[1:] {
			before := all[i]
			mend := MendNone
			if st.m == before.m && before.e.place.unfinished() {
				mend = c.mends(st.m)
			}
			switch other := c.s.below(before.path()); {
			case !st.h.Same(before.h):
				c.say(Fault, st.path(), mend, "another handoff has its id: %s", other)
			case st.m != before.m:
			case os.SameFile(st.info, before.info):
				c.say(Note, st.path(), mend, "one file in two places, also %s", other)
			default:
				c.say(Warning, st.path(), mend, "it stands in two places, also %s", other)
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
					c.say(Fault, st.path(), MendNone, "a conclusion whose id is not that of its task's conclusion")
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
	all := c.whole[task.e.id.Conclusion()]
	for _, st := range all {
		if st.h.ends(task.h) {
			first = st.h
		} else {
			c.blocked(task, st.path(), c.mayClaim(st.m))
		}
	}
	if r, err := c.s.lookup(task.e.id.Conclusion()); len(all) == 0 && err == nil && !r.ends(task.h) {
		c.blocked(task, c.s.idFile(r.ID), true)
	}
	switch place := task.e.place; {
	case place == Bad:
	case first != nil && place != Finished:
		c.say(Note, task.path(), c.mends(task.m), "concluded, and not yet in done/")
	case first == nil && place == Finished:
		c.say(Note, task.path(), MendNone, "in done/, and its conclusion is not here to be seen")
	}
}

// blocked is about what has the id of the conclusion of task, so that nothing
// can end it.
func (c *checker) blocked(task standing, path string, ours bool) {
	mend := MendNone
	if ours && task.e.place.unfinished() {
		mend = MendRepair
	}
	c.say(Warning, path, mend, "it has the id of the conclusion of %s, and does not end it", task.e.id)
}
