package spool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// claimed writes h's claim on m as a sync tool brings it.
func claimed(t *testing.T, m *Mailbox, h Host, number uint64, state string) {
	t.Helper()
	if err := os.MkdirAll(m.liveDir(), privateDir); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(map[string]any{"claim": number, "host": h, "state": state})
	if err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(t.TempDir(), "live")
	put(t, temp, b)
	if err := os.Rename(temp, m.liveFile(h)); err != nil {
		t.Fatal(err)
	}
}

// ownNumber is the number in this host's live file; 0: it has none.
func ownNumber(t *testing.T, m *Mailbox) (n uint64) {
	t.Helper()
	b, err := os.ReadFile(m.liveFile(m.s.host))
	if err != nil {
		return 0
	}
	var l struct{ Claim uint64 }
	if err := json.Unmarshal(b, &l); err != nil {
		t.Fatal(err)
	}
	return l.Claim
}

func wantHome(t *testing.T, m *Mailbox, want Host) {
	t.Helper()
	if h, err := mailbox(t, m.s, m.name).Home(); err != nil || h != want {
		t.Errorf("the home is %q, %v, want %q", h, err, want)
	}
}

func mayWork(m *Mailbox, takeover bool) error { return m.MayWork(context.Background(), takeover) }

func TestHomeIsTheHighestNumber(t *testing.T) {
	for _, c := range []struct {
		claims map[Host]uint64
		states map[Host]string
		want   Host
	}{
		{nil, nil, ""},
		{map[Host]uint64{"a-00000001": 1, "b-00000002": 2}, nil, "b-00000002"},
		{map[Host]uint64{"a-00000001": 10, "b-00000002": 9}, nil, "a-00000001"},
		{map[Host]uint64{"a-00000001": 3, "b-00000002": 3}, nil, "a-00000001"},
		{map[Host]uint64{"a-00000001": 3, "b-00000002": 3}, map[Host]string{"b-00000002": "stopped"}, "b-00000002"},
		{map[Host]uint64{"a-00000001": 3, "b-00000002": 3}, map[Host]string{"a-00000001": "idle", "b-00000002": "idle"}, "a-00000001"},
		{map[Host]uint64{"a-00000001": 0}, nil, ""},
	} {
		m := mailbox(t, newSpool(t, "bob"), "bob")
		for h, n := range c.claims {
			claimed(t, m, h, n, c.states[h])
		}
		wantHome(t, m, c.want)
	}
}

// What lies in live/ and is no claim decides nothing.
func TestHomePassesOverWhatIsNoClaim(t *testing.T) {
	m := mailbox(t, newSpool(t, "bob"), "bob")
	claimed(t, m, there, 1, "")
	for name, text := range map[string]string{
		"x-00000003.json": `{"claim":9`,
		"x-00000004.json": ``,
		"x-00000005.json": `{"claim":-1}`,
		"x-00000006.json": `{"claim":"9"}`,
		"x.sync-conflict-20261130-170000-ABCDEFG.json": `{"claim":9}`,
		".syncthing.x.json.tmp":                        `{"claim":9}`,
		"x-00000007.json~":                             `{"claim":9}`,
		"X.json":                                       `{"claim":9}`,
	} {
		put(t, filepath.Join(m.liveDir(), name), []byte(text))
	}
	if err := os.Symlink(m.liveFile(there), filepath.Join(m.liveDir(), "a-00000008.json")); err != nil {
		t.Fatal(err)
	}
	wantHome(t, m, there)
}

func TestHomeIsClaimedByTheFirst(t *testing.T) {
	m := mailbox(t, newSpool(t, "bob"), "bob")
	wantHome(t, m, "")
	for range 2 {
		if err := mayWork(m, false); err != nil {
			t.Fatal(err)
		}
		wantHome(t, m, here)
		if n := ownNumber(t, m); n != 1 {
			t.Errorf("the claim is %d, want 1: it stays", n)
		}
	}
}

func TestHomeElsewhere(t *testing.T) {
	m := mailbox(t, newSpool(t, "bob"), "bob")
	claimed(t, m, there, 7, "")
	wantErr(t, mayWork(m, false), ErrElsewhere)
	if n := ownNumber(t, m); n != 0 {
		t.Errorf("who was refused claimed %d", n)
	}
	if err := mayWork(m, true); err != nil {
		t.Fatal(err)
	}
	if n := ownNumber(t, m); n != 8 {
		t.Errorf("taken over with %d, want 8", n)
	}
	wantHome(t, m, here)
	// The other one takes it back.
	claimed(t, m, there, 9, "")
	wantErr(t, mayWork(m, false), ErrElsewhere)
}

// Deliveries need no home, and leave it alone.
func TestHomeIsNotClaimedByADelivery(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	claimed(t, m, there, 7, "")
	mustSend(t, s, note(""), "body")
	wantHome(t, m, there)
	if _, _, err := s.MakeMailbox("carol"); err != nil {
		t.Fatal(err)
	}
	wantHome(t, mailbox(t, s, "carol"), "")
}

// An rsync brought back the live file that this host had before it took over.
func TestHomeClaimIsRestored(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	if err := mayWork(m, false); err != nil {
		t.Fatal(err)
	}
	claimed(t, m, there, 2, "")
	if err := mayWork(m, true); err != nil {
		t.Fatal(err)
	}
	claimed(t, m, here, 1, "")
	m = mailbox(t, s, "bob")
	if err := mayWork(m, false); err != nil {
		t.Error(err)
	}
	if n := ownNumber(t, m); n != 3 {
		t.Errorf("the claim is %d, want 3 again", n)
	}
	// What another host has claimed above it stands.
	claimed(t, m, here, 1, "")
	claimed(t, m, there, 4, "")
	wantErr(t, mayWork(mailbox(t, s, "bob"), false), ErrElsewhere)
}

// A claim that comes within the grain of the directory's time is seen.
func TestHomeSeesAClaimOfTheSameInstant(t *testing.T) {
	m := mailbox(t, newSpool(t, "bob"), "bob")
	if err := mayWork(m, false); err != nil {
		t.Fatal(err)
	}
	if err := mayWork(m, false); err != nil { // remembers live/ as it is
		t.Fatal(err)
	}
	before, err := os.Lstat(m.liveDir())
	if err != nil {
		t.Fatal(err)
	}
	claimed(t, m, there, 5, "")
	if err := os.Chtimes(m.liveDir(), time.Time{}, before.ModTime()); err != nil {
		t.Fatal(err)
	}
	m.homes.read = m.homes.read.Add(-rereadHome)
	wantErr(t, mayWork(m, false), ErrElsewhere)
}

// No clock takes part: claims may come from any time.
func TestHomeHasNoClock(t *testing.T) {
	m := mailbox(t, newSpool(t, "bob"), "bob")
	claimed(t, m, there, 2, "")
	claimed(t, m, "old-00000003", 1, "")
	for h, at := range map[Host]time.Time{there: time.Unix(0, 0), "old-00000003": time.Now().Add(time.Hour)} {
		if err := os.Chtimes(m.liveFile(h), at, at); err != nil {
			t.Fatal(err)
		}
	}
	wantHome(t, m, there)
	m.s.sys.Now = func() time.Time { return time.Unix(0, 0) }
	wantErr(t, mayWork(m, false), ErrElsewhere)
}

// Many that claim at once on one host make one claim.
func TestHomeRace(t *testing.T) {
	s := newSpool(t, "bob")
	m := mailbox(t, s, "bob")
	race(8, func(i int) {
		mine := m // one value for several goroutines, and values of their own
		if i%2 == 0 {
			mine = &Mailbox{s: s, name: "bob", dir: m.dir}
		}
		if err := mayWork(mine, false); err != nil {
			t.Error(err)
		}
	})
	if n := ownNumber(t, m); n != 1 {
		t.Errorf("the claim is %d, want 1", n)
	}
	if b, err := os.ReadFile(s.claimFile("bob")); err != nil || string(b) != fmt.Sprintln(1) {
		t.Errorf("remembered: %q, %v", b, err)
	}
}
