// Package reap is what gc does and what doctor says.
//
// The plan is pure: what lies in a spool, how old it is, and what is to be
// kept decide what goes and why. The sweep does it, each thing under its own
// locks and after another look, so that gc can run from cron beside senders,
// receivers and a sync tool. A whole handoff never goes from new/, cur/ or
// work/.
package reap

import (
	"time"

	"xfer/spool"
)

// A Keep is how long what is kept.
type Keep struct {
	Done time.Duration // finished handoffs
	Bad  time.Duration // what was set aside
	IDs  time.Duration // ids, after their handoff went; not less than Done
	Temp time.Duration // temp files, and files that are not whole
	Log  int64         // bytes of log
}

// DefaultKeep is what is kept where nothing else is said.
func DefaultKeep() Keep {
	const day = 24 * time.Hour
	return Keep{Done: 30 * day, Bad: 90 * day, IDs: 400 * day, Temp: 36 * time.Hour, Log: 8 << 20}
}

// An Item is one thing that is to go, and why.
type Item struct {
	spool.Leftover
	Why string
	Age time.Duration
}

// Decide says whether l goes, and why. A time in the future is young: a clock
// that was set wrong removes nothing.
func (k *Keep) Decide(l spool.Leftover, now time.Time) (Item, bool) {
	it := Item{Leftover: l, Age: max(now.Sub(l.At), 0)}
	switch l.Kind {
	case spool.LeftTemp, spool.LeftLocalTemp, spool.LeftSpoolTemp, spool.LeftBeside:
		return it.when(it.Age > k.Temp, "nobody finished writing it")
	case spool.LeftDocument:
		return it.when(!l.Live && it.Age > k.Temp, "its handoff is not being handled")
	case spool.LeftFinished:
		return it.when(it.Age > k.Done, "finished, and kept long enough")
	case spool.LeftSetAside:
		return it.when(it.Age > k.Bad, "set aside, and kept long enough")
	case spool.LeftEdit:
		return it.when(it.Age > k.Bad, "an edit that was not merged, and kept long enough")
	case spool.LeftReason:
		return it.when(it.Age > k.Bad, "what it is the reason of is gone")
	case spool.LeftCopy:
		return it.when(true, "a copy of what was handled")
	case spool.LeftConcluded:
		return it.when(true, "its conclusion is published")
	case spool.LeftMalformed:
		return it.when(true, "it breaks the format, or another was sent under its id")
	case spool.LeftMisrouted:
		return it.when(true, "it is addressed to another peer")
	case spool.LeftNotWhole:
		return it.when(it.Age > k.Temp, "not whole, and nobody completes it")
	case spool.LeftStray:
		return it.when(it.Age > k.Temp, "a name that no handoff has")
	case spool.LeftLink:
		return it.when(it.Age > k.Done, "its handoff went elsewhere")
	case spool.LeftKey:
		return it.when(it.Age > k.Temp, "its id is forgotten")
	case spool.LeftRun:
		return it.when(!l.Live && it.Age > k.Done, "its handoff is finished")
	case spool.LeftReleased:
		return it.when(!l.Live && it.Age > k.Temp, "what was released is not there any more")
	case spool.LeftWaiter:
		return it.when(it.Age > k.Temp, "nobody waits")
	case spool.LeftLiveCopy:
		return it.when(it.Age > k.Temp, "a sync tool's copy of a sign of life")
	case spool.LeftLog:
		return it.when(l.Size > k.Log, "grown over its size")
	case spool.LeftMemory, spool.LeftPast:
		return it.when(k.expired(l.Name, now), "remembered long enough")
	}
	return it, false
}

func (it Item) when(goes bool, why string) (Item, bool) {
	it.Why = why
	return it, goes
}

// expired tells whether a segment's month ended longer ago than ids are kept.
func (k *Keep) expired(name string, now time.Time) bool {
	month, ok := spool.SegmentMonth(name)
	return ok && now.Sub(month.AddDate(0, 1, 0)) > max(k.IDs, k.Done)
}
