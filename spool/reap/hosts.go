package reap

import (
	"path"
	"strings"
	"time"

	"xfer/spool"
)

// toldFor is how long doctor tells of two hosts that worked one mailbox.
const toldFor = 30 * 24 * time.Hour

// homes tells of a receiver on another host than the home that never said that
// it stopped: nothing says that it did, before the home took over.
func (d *Doctor) homes(m *spool.Mailbox, st *spool.State) error {
	lives, err := m.Lives()
	if err != nil {
		return err
	}
	for _, l := range lives {
		if l.Host.Same(st.Live.Host) || l.State == "" || l.State == spool.Stopped || l.BeatAt == nil || d.Now().Sub(*l.BeatAt).Abs() > toldFor {
			continue
		}
		d.say("home", spool.Warning, "peers/"+string(st.Peer), spool.Say("host %s took it over from %s, whose receiver never said that it stopped: what both had may have been handled twice", st.Live.Host, l.Host),
			"stop the receiver on a host before another one is given --takeover")
	}
	return nil
}

// carried tells of what a sync tool carries and must leave out.
func (d *Doctor) carried() error {
	paths, err := d.S.Carried()
	if err != nil {
		return err
	}
	for _, p := range paths {
		left := "/local"
		if strings.HasPrefix(p, "peers/") {
			left = "/peers/*/tmp"
		}
		d.say("sync", spool.Fault, path.Dir(p), spool.Say("a sync tool carries it: %s", spool.Path(path.Base(p))),
			"add the line (?d)"+left+" to .stignore on every host, or --exclude="+left+"/ to rsync")
	}
	return nil
}
