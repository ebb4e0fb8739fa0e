package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"xfer/internal/tool"
	"xfer/spool"
)

// commit delivers one parcel, prints its line, and says what became of it.
func (s *sending) commit(p *parcel) error {
	if p.err == nil && s.awaitsConclusion() {
		p.stop, p.err = s.Spool.Awaiting(s.Ctx, p.w.ID())
	}
	if p.err == nil {
		p.report, p.err = p.w.Commit(s.Ctx)
	}
	if p.err == nil && p.stop != nil && p.report.ID != p.w.ID() {
		if p.err = s.awaitFirst(p); p.err != nil {
			return onID("await", p.report.ID, p.err)
		}
	}
	if errors.Is(p.err, spool.ErrRefused) {
		p.report.ID, p.report.Outcome = "", spool.Refused
	}
	r := newOutcomeRecord(p.report, p.err)
	s.judge(p, r)
	err := s.answer(r)
	if p.err != nil || p.report.Outcome == spool.Refused {
		return s.sendError(p)
	}
	if err != nil {
		return &spool.Error{Op: "send to", Name: string(p.to),
			Err: spool.Because(err, string(p.report.ID)+" is "+string(p.report.Outcome)+": "+err.Error())}
	}
	s.tell(p)
	return nil
}

// awaitFirst has p wait for the conclusion of the task that was sent first
// under its key.
func (s *sending) awaitFirst(p *parcel) error {
	stop, err := s.Spool.Awaiting(s.Ctx, p.report.ID)
	if err != nil {
		return err
	}
	p.stop()
	p.stop = stop
	return nil
}

func (s *sending) awaitsConclusion() bool { return s.IsSet("await") && s.draft.Kind == spool.Task }

// answer prints a parcel's line, where the answer is not its conclusion.
func (s *sending) answer(r *outcomeRecord) error {
	if !s.awaitsConclusion() || s.Out.JSON() {
		if err := s.Out.Write(r); err != nil {
			return err
		}
	}
	return s.Out.Flush()
}

// judge adds to what is told whether somebody receives for the peer; how much
// waits there is counted for --json only.
func (s *sending) judge(p *parcel, r *outcomeRecord) {
	if p.w == nil || s.Bool("quiet") && !s.Out.JSON() {
		return
	}
	st, err := p.w.Mailbox().Judge(s.Out.JSON())
	if err != nil {
		return // what cannot be told about the peer changes nothing about the handoff
	}
	p.verdict = st.Verdict
	if s.Out.JSON() {
		r.Verdict, r.Queued, r.OldestAt = st.Verdict, &st.Queued, timePointer(st.OldestAt)
	}
}

// nobody is what is told of a peer that nobody receives for.
func nobody(v spool.Verdict) string {
	switch v {
	case spool.NoRunner:
		return "; nobody receives there"
	case spool.Sleeping:
		return "; its receiver is stopped"
	case spool.Crashed:
		return "; its receiver crashed"
	case spool.Mismatch, spool.VerdictUnsure:
		return "; whether anybody receives there cannot be told"
	}
	return ""
}

func (s *sending) tell(p *parcel) {
	line := fmt.Sprintf("%s to %s: %s, %s", p.report.ID, p.to, p.report.Outcome, Quoted(s.draft.Subject))
	if p.report.Replayed {
		line = fmt.Sprintf("%s to %s: %s, sent before", p.report.ID, p.to, p.report.Outcome)
	}
	if p.report.Outcome == spool.Queued {
		line += nobody(p.verdict)
	}
	if s.IsSet("await") {
		s.Err.Always("%s", line)
		return
	}
	s.Err.Say("%s", line)
}

// sendError says what is now true of a parcel that did not go as asked.
func (s *sending) sendError(p *parcel) error {
	err := p.err
	switch {
	case err == nil:
		err = spool.Because(spool.ErrRefused, "it was refused: "+p.report.Detail)
	case errors.Is(err, spool.ErrUnknown):
		return tool.WithHint(&spool.Error{Op: "send to", Name: string(p.to), Err: spool.Because(err, string(p.report.ID)+": "+err.Error())},
			"'xfer-inbox status "+string(p.report.ID)+"' tells when it can be told")
	case errors.Is(err, spool.ErrConflict), errors.Is(err, spool.ErrNoPeer):
	default:
		err = nothingSent(err)
	}
	err = s.PeerError("send to", p.to, err)
	if errors.Is(err, spool.ErrNoPeer) {
		err = tool.WithHint(err, s.fileHint(string(p.to)))
	}
	return err
}

// awaitAll waits for the conclusion of each task that was sent, or until each
// notification is delivered.
func (s *sending) awaitAll(failures *tool.Failures) error {
	s.CatchSignals()
	if !s.awaitsConclusion() {
		return s.awaitDelivery(failures)
	}
	w := &waiting{Caller: s.Caller, failures: failures, limit: s.awaitLimit()}
	for _, p := range s.all {
		if p.err == nil && p.report.Outcome != spool.Refused {
			w.open = append(w.open, openTask{p.report.ID, p.to})
		}
	}
	if len(w.open) == 0 {
		return failures.Err()
	}
	var err error
	if w.m, err = s.Spool.Mailbox(s.Name); err != nil { // also one that was removed: see tellRemoved
		return s.PeerError("open mailbox", s.Name, err)
	}
	return w.run()
}

// awaitLimit is how long is waited; nothing is no time, and not for ever.
func (s *sending) awaitLimit() time.Duration { return max(s.Duration("await"), 1) }

// awaitDelivery waits until somebody has each notification.
func (s *sending) awaitDelivery(failures *tool.Failures) error {
	ctx, cancel := context.WithTimeoutCause(s.Ctx, s.awaitLimit(), errTimeUp)
	defer cancel()
	var to []*spool.Mailbox
	for _, p := range s.all {
		if p.w != nil {
			to = append(to, p.w.Mailbox())
		}
	}
	w := spool.WatchNew(to)
	defer w.Close()
	for {
		waiting := false
		for _, p := range s.all {
			if p.err == nil && (p.report.Outcome == spool.Queued || p.report.Outcome == spool.Held) {
				failures.Add(s.lookDelivered(p))
				waiting = waiting || p.report.Outcome == spool.Queued || p.report.Outcome == spool.Held
			}
		}
		if !waiting {
			return failures.Err()
		}
		if _, err := w.Wait(ctx, lookAgainBusy); errors.Is(err, errTimeUp) {
			s.undelivered(failures)
			return failures.Err()
		} else if err != nil {
			return err
		}
	}
}

// lookDelivered reads again what became of p, and tells when somebody has it.
func (s *sending) lookDelivered(p *parcel) error {
	r, err := p.w.Mailbox().Outcome(p.report.ID)
	p.err, p.report.Outcome, p.report.Detail = err, r.Outcome, r.Detail
	if err != nil || r.Outcome == spool.Refused {
		return s.sendError(p)
	}
	if r.Outcome != spool.Delivered {
		return nil
	}
	if s.Out.JSON() {
		if err := s.Out.Write(newOutcomeRecord(p.report, nil)); err != nil {
			return err
		}
		return s.Out.Flush()
	}
	s.Err.Say("%s to %s: delivered", p.report.ID, p.to)
	return nil
}

func (s *sending) undelivered(failures *tool.Failures) {
	for _, p := range s.all {
		if p.err == nil && (p.report.Outcome == spool.Queued || p.report.Outcome == spool.Held) {
			s.Err.Always("%s is still %s after %s", p.report.ID, p.report.Outcome, shortDuration(s.Duration("await")))
			failures.Add(tool.Exit(1))
		}
	}
}

func shortDuration(d time.Duration) string {
	text := d.String()
	text = strings.TrimSuffix(text, "0s")
	text = strings.TrimSuffix(text, "0m")
	if text == "" || !strings.ContainsAny(text[len(text)-1:], "hms") {
		return d.String()
	}
	return text
}
