package spool

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"xfer/internal/durable"
)

// A Located is all that this host can see of one id.
type Located struct {
	ID       ID
	Header   *Header // from wherever it could be read; nil where it could not
	Peer     Name    // whose mailbox counts: the addressee's
	Seen     []Sighting
	Sent     bool    // this host's registry has it
	Folded   *Folded // what the addressee's mailbox remembers, where it let it go
	Run      *Run
	Released bool
	Report   Report // its outcome; Outcome is empty where it was found nowhere
	Err      error  // why the outcome is unknown
}

// A Sighting is one place in which an id shows.
type Sighting struct {
	Peer   Name
	Place  Place
	Path   string
	At     time.Time // of its last change here (ctime)
	Reason string    // of what was set aside
	Err    error     // what is wrong with the file
}

// ResolveAny is Resolve over the whole spool.
func (s *Spool) ResolveAny(part IDPart) (ID, error) {
	if id, whole := part.Whole(); whole {
		return id, nil
	}
	var all []ID
	peers, err := s.Peers()
	if err != nil {
		return "", err
	}
	for _, n := range peers {
		m, err := s.Mailbox(n)
		if err != nil {
			continue
		}
		ids, err := m.fits(part)
		if err != nil {
			return "", err
		}
		all = append(all, ids...)
	}
	return only(part, all)
}

// Locate looks for id in the registry and in every mailbox. The error is
// ErrNoHandoff when nothing here knows of it.
func (s *Spool) Locate(id ID) (*Located, error) {
	l, err := s.seek(id)
	if err == nil && len(l.Seen) == 0 && l.Folded == nil {
		s.sys.Wait(lookAgain) // a rename by a sync tool shows neither name for a moment
		l, err = s.seek(id)
	}
	if err != nil {
		return nil, err
	}
	if len(l.Seen) == 0 && !l.Sent && l.Folded == nil {
		return nil, ErrNoHandoff
	}
	if l.Released, err = s.released(id); err != nil {
		return nil, err
	}
	if r, found := s.RunOf(id); found {
		l.Run = &r
	}
	s.judge(l)
	return l, nil
}

// seek is locate, and recall where id stands nowhere.
func (s *Spool) seek(id ID) (*Located, error) {
	l, err := s.locate(id)
	if err == nil && len(l.Seen) == 0 {
		err = s.recall(l)
	}
	return l, err
}

func (s *Spool) locate(id ID) (*Located, error) {
	l := &Located{ID: id}
	r, err := s.lookup(id)
	switch {
	case err == nil:
		l.Sent, l.Header, l.Peer = true, &r.Header, r.To
	case !errors.Is(err, fs.ErrNotExist) && passIncomplete(err) != nil:
		return nil, err
	}
	peers, err := s.Peers()
	if err != nil {
		return nil, err
	}
	for _, n := range peers {
		m, err := s.Mailbox(n)
		if err != nil {
			continue
		}
		if err := m.sight(l); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// recall asks the mailboxes, the addressee's where it is known, for what they
// remember of an id that stands nowhere.
func (s *Spool) recall(l *Located) error {
	peers := []Name{l.Peer}
	if l.Peer == "" {
		var err error
		if peers, err = s.Peers(); err != nil {
			return err
		}
	}
	for _, n := range peers {
		m, err := s.Mailbox(n)
		if err != nil {
			continue
		}
		f, found, err := m.folded(l.ID)
		if err != nil {
			return err
		}
		if found && f.Last.Handled() {
			l.Peer, l.Folded = n, &f
			return nil
		}
	}
	return nil
}

// sight adds where the id of l shows in this mailbox.
func (m *Mailbox) sight(l *Located) error {
	for _, p := range Places {
		e, info, err := m.at(p, l.ID)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		g := Sighting{Peer: m.name, Place: p, Path: m.path(e), At: durable.Changed(info)}
		f, err := openFile(g.Path, l.ID)
		if err != nil {
			g.Err = asked(err)
		} else {
			_ = f.Close()
			g.Err = m.s.original(f)
			if l.Header == nil {
				l.Header, l.Peer = &f.Header, f.To
			}
		}
		if p == Bad {
			g.Reason = m.reason(l.ID)
		}
		l.Seen = append(l.Seen, g)
	}
	return nil
}

// judge says the outcome: what the addressee's mailbox shows. Another's bad/ is
// evidence only.
func (s *Spool) judge(l *Located) {
	if l.Peer == "" { // it shows, and nothing of it can be read
		l.Peer = l.Seen[0].Peer
	}
	l.Report = Report{ID: l.ID, To: l.Peer, Outcome: Unknown}
	m, err := s.Mailbox(l.Peer)
	if err != nil {
		l.Err = err
		return
	}
	found, err := m.find(l.ID)
	switch {
	case err != nil:
		l.Err = err
	case len(found) == 0 && l.Folded != nil:
		l.Report = l.Folded.report(l.Report)
	case len(found) == 0:
		l.Err = Because(ErrUnknown, "it was written, and is now in no place of "+string(l.Peer)+"'s mailbox")
	default:
		e := rightmost(found)
		if l.Err = l.faultAt(e.place); l.Err == nil {
			l.Report, l.Err = m.outcome(l.ID, l.Report)
		}
	}
}

// faultAt is ErrUnknown where what stands in p of the addressee's mailbox under
// the id is not, or not yet, the handoff.
func (l *Located) faultAt(p Place) error {
	for _, g := range l.Seen {
		if g.Peer == l.Peer && g.Place == p && g.Err != nil {
			return Because(ErrUnknown, "what stands in "+string(l.Peer)+"'s "+string(p)+"/ is not the handoff: "+plain(g.Err))
		}
	}
	return nil
}

// State is the place that counts, empty where there is none.
func (l *Located) State() Place {
	var p Place
	for _, g := range l.Seen {
		if g.Peer == l.Peer {
			p = g.Place
		}
	}
	return p
}

// ConclusionOf is the conclusion of a task as far as this host can see it, or
// nil.
func (s *Spool) ConclusionOf(task *Header) (*Header, error) {
	id := task.ID.Conclusion()
	if asker, err := s.Mailbox(task.From); err == nil {
		if h, err := asker.published(id, task, Places...); h != nil || err != nil {
			return h, err
		}
		if f, found, err := asker.folded(id); err != nil || found && f.Last.Ending() != "" {
			return f.conclusion(task), err
		}
	}
	taker, err := s.Mailbox(task.To)
	if err != nil {
		return nil, nil
	}
	return taker.published(id, task, Bad)
}

// OpenAny opens the handoff id wherever it stands: the addressee's mailbox
// first, the rightmost place first. It locks nothing. The errors are
// ErrNoHandoff and those of the format.
func (s *Spool) OpenAny(id ID) (*File, Sighting, error) {
	l, err := s.Locate(id)
	if err != nil {
		return nil, Sighting{}, err
	}
	slices.SortStableFunc(l.Seen, func(a, b Sighting) int {
		if (a.Peer == l.Peer) != (b.Peer == l.Peer) {
			if a.Peer == l.Peer {
				return -1
			}
			return 1
		}
		return slices.Index(Places, b.Place) - slices.Index(Places, a.Place)
	})
	switch {
	case len(l.Seen) > 0:
	case l.Err != nil:
		return nil, Sighting{}, l.Err
	default:
		return nil, Sighting{}, Because(ErrNoHandoff, "it was finished, and let go")
	}
	f, err := openFile(l.Seen[0].Path, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Sighting{}, Because(ErrLocked, "it is being moved")
	}
	if err != nil {
		return nil, l.Seen[0], asked(err)
	}
	if err := s.original(f); err != nil {
		_ = f.Close()
		return nil, l.Seen[0], err
	}
	return f, l.Seen[0], nil
}
