package reap

import (
	"testing"
	"time"

	"xfer/spool"
)

const (
	hour = time.Hour
	day  = 24 * hour
)

// now is in the middle of a month, so that months end where they seem to.
var now = time.Date(2026, 11, 15, 4, 17, 0, 0, time.UTC)

func TestPlan(t *testing.T) {
	k := DefaultKeep()
	for _, c := range []struct {
		kind  spool.LeftoverKind
		keeps time.Duration // at this age, and a second less
		why   string        // at a second more
	}{
		{spool.LeftTemp, 36 * hour, "nobody finished writing it"},
		{spool.LeftLocalTemp, 36 * hour, "nobody finished writing it"},
		{spool.LeftSpoolTemp, 36 * hour, "nobody finished writing it"},
		{spool.LeftBeside, 36 * hour, "nobody finished writing it"},
		{spool.LeftDocument, 36 * hour, "its handoff is not being handled"},
		{spool.LeftFinished, 30 * day, "finished, and kept long enough"},
		{spool.LeftSetAside, 90 * day, "set aside, and kept long enough"},
		{spool.LeftEdit, 90 * day, "an edit that was not merged, and kept long enough"},
		{spool.LeftReason, 90 * day, "what it is the reason of is gone"},
		{spool.LeftNotWhole, 36 * hour, "not whole, and nobody completes it"},
		{spool.LeftStray, 36 * hour, "a name that no handoff has"},
		{spool.LeftLink, 30 * day, "its handoff went elsewhere"},
		{spool.LeftKey, 36 * hour, "its id is forgotten"},
		{spool.LeftRun, 30 * day, "its handoff is finished"},
		{spool.LeftReleased, 36 * hour, "what was released is not there any more"},
		{spool.LeftWaiter, 36 * hour, "nobody waits"},
		{spool.LeftLiveCopy, 36 * hour, "a sync tool's copy of a sign of life"},
	} {
		for _, age := range []time.Duration{-hour, 0, c.keeps - time.Second, c.keeps} {
			if it, goes := k.Decide(spool.Leftover{Kind: c.kind, At: now.Add(-age)}, now); goes {
				t.Errorf("%s, %v old, goes: %s", c.kind, age, it.Why)
			}
		}
		it, goes := k.Decide(spool.Leftover{Kind: c.kind, At: now.Add(-c.keeps - time.Second)}, now)
		if !goes || it.Why != c.why || it.Age != c.keeps+time.Second {
			t.Errorf("%s: goes %t, %q, %v old", c.kind, goes, it.Why, it.Age)
		}
	}
}

// What a reader that meets it deals with at once has no age.
func TestPlanAtOnce(t *testing.T) {
	k := DefaultKeep()
	for _, kind := range []spool.LeftoverKind{spool.LeftCopy, spool.LeftConcluded, spool.LeftMalformed, spool.LeftMisrouted} {
		if it, goes := k.Decide(spool.Leftover{Kind: kind, At: now}, now); !goes || it.Why == "" {
			t.Errorf("%s stays", kind)
		}
	}
	if _, goes := k.Decide(spool.Leftover{Kind: "a kind that is to come"}, now); goes {
		t.Error("what is not known goes")
	}
}

// What belongs to an unfinished handoff stays at any age.
func TestPlanKeepsWhatLives(t *testing.T) {
	k := DefaultKeep()
	for _, kind := range []spool.LeftoverKind{spool.LeftDocument, spool.LeftRun, spool.LeftReleased} {
		if _, goes := k.Decide(spool.Leftover{Kind: kind, Live: true, At: now.Add(-1000 * day)}, now); goes {
			t.Errorf("%s goes", kind)
		}
	}
}

func TestPlanOfLogs(t *testing.T) {
	k := Keep{Log: 100}
	for size, want := range map[int64]bool{0: false, 100: false, 101: true} {
		if _, goes := k.Decide(spool.Leftover{Kind: spool.LeftLog, Size: size, At: now}, now); goes != want {
			t.Errorf("%d bytes: goes %t", size, goes)
		}
	}
}

func TestPlanOfSegments(t *testing.T) {
	const ulid = ".01kb9w6t3v8f5s7q2m4x0c1d9e.seg"
	k := Keep{Done: 10 * day, IDs: 46 * day}
	for name, want := range map[string]bool{
		"202611" + ulid:                     false,
		"202610" + ulid:                     false, // ended 14 days ago
		"202609" + ulid:                     false, // 45 days ago
		"202608" + ulid:                     true,
		"host-3fa09c11.202608" + ulid:       true,
		"a.host-3fa09c11.202608" + ulid:     true,
		"202608" + ulid + ".new":            false,
		"202613" + ulid:                     false,
		"host-3fa09c11.seg":                 false,
		"host.202608.not-a-ulid-at-all.seg": false,
	} {
		for _, kind := range []spool.LeftoverKind{spool.LeftMemory, spool.LeftPast} {
			if _, goes := k.Decide(spool.Leftover{Kind: kind, Name: name, At: now}, now); goes != want {
				t.Errorf("%s %s: goes %t", kind, name, goes)
			}
		}
	}
	// Never before what is done has gone.
	k = Keep{Done: 400 * day, IDs: day}
	if _, goes := k.Decide(spool.Leftover{Kind: spool.LeftPast, Name: "202608" + ulid}, now); goes {
		t.Error("forgotten before what is done has gone")
	}
}
