package e2e

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestParallelSends(t *testing.T) {
	b := newBench(t, "bob")
	var all []*exec.Cmd
	for i := range 50 {
		all = append(all, with(b.send("alice", "-k", "notification", "bob"), fmt.Sprint("body ", i)))
	}
	var ids []string
	for _, e := range b.race(all) {
		if e.status != 0 {
			t.Error(e)
		}
		ids = append(ids, strings.TrimSuffix(e.stdout, "\n"))
	}
	slices.Sort(ids)
	if names := b.names("bob", "new"); !slices.Equal(names, ids) || len(slices.Compact(ids)) != 50 {
		t.Errorf("told: %q\nin new/: %q", ids, names)
	}
	bodies := strings.Split(strings.TrimSpace(b.ok(b.inbox("bob", "take", "--all", "--json"))), "\n")
	for i := range 50 {
		want := fmt.Sprintf(`"body":"body %d"`, i)
		if n := len(slices.DeleteFunc(slices.Clone(bodies), func(s string) bool { return !strings.Contains(s, want) })); n != 1 {
			t.Errorf("%s came %d times", want, n)
		}
	}
}

func TestTenSendersOfTen(t *testing.T) {
	b := newBench(t, "bob")
	var all []*exec.Cmd
	for i := range 10 {
		send := b.send(fmt.Sprint("sender", i), "-k", "task", "-s", "s", "bob")
		loop := exec.Command("/bin/sh", append([]string{"-ec", `for i in 1 2 3 4 5 6 7 8 9 10; do echo "$i" | "$@"; done`, "sh", send.Path}, send.Args[1:]...)...)
		loop.Env = send.Env
		all = append(all, loop)
	}
	var ids []string
	for _, e := range b.race(all) {
		if e.status != 0 {
			t.Error(e)
		}
		ids = append(ids, strings.Fields(e.stdout)...)
	}
	slices.Sort(ids)
	if names := b.names("bob", "new"); len(slices.Compact(ids)) != 100 || !slices.Equal(names, ids) {
		t.Errorf("%d ids told, %d files in new/", len(ids), len(names))
	}
	if names := b.names("bob", "tmp"); len(names) != 0 {
		t.Errorf("left in tmp/: %q", names)
	}
}

// Two readers drain one mailbox: each id out exactly once.
func TestTwoReaders(t *testing.T) {
	b := newBench(t, "bob")
	for round := range 8 {
		var want []string
		for i := range 4 {
			send := b.send("alice", "-k", "notification", "-s", "s", "bob")
			loop := exec.Command("/bin/sh", append([]string{"-ec", `i=0; while [ $i -lt 25 ]; do echo "$i" | "$@"; i=$((i+1)); done`, "sh", send.Path}, append(send.Args[1:], "--no-sync", "--label", fmt.Sprint(i))...)...)
			loop.Env = send.Env
			want = append(want, strings.Fields(b.ok(loop))...)
		}
		var out []string
		drain := func() *exec.Cmd { return b.inbox("bob", "take", "--all", "--json") }
		for n := 0; len(out) < 100 && n < 10; n++ {
			for _, e := range b.race([]*exec.Cmd{drain(), drain()}) {
				// A reader that came to what the other held at that moment found nothing.
				if e.status != 0 && e.status != 1 {
					t.Error(e)
				}
				for line := range strings.Lines(e.stdout) {
					out = append(out, between(line, `"id":"`, `"`))
				}
			}
		}
		slices.Sort(want)
		slices.Sort(out)
		if !slices.Equal(out, want) {
			t.Fatalf("round %d: %d sent, %d handed out, %d of them distinct", round, len(want), len(out), len(slices.Compact(out)))
		}
	}
}

func between(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return s
}

// Two that conclude one task at once: one conclusion, whoever wrote it.
func TestConcludeRace(t *testing.T) {
	b := newBench(t, "alice", "bob")
	for round := range 200 {
		id := b.id(b.send("alice", "-k", "task", "-s", "s", "--no-sync", "bob"), "task")
		same := round%2 == 0
		bodies := []string{"result", "result"}
		if !same {
			bodies[1] = "another"
		}
		ends := b.race([]*exec.Cmd{
			with(b.inbox("bob", "conclude", id, "done"), bodies[0]),
			with(b.inbox("bob", "conclude", id, "done"), bodies[1]),
		})
		statuses := []int{ends[0].status, ends[1].status}
		slices.Sort(statuses)
		if want := []int{0, 0}; same && !slices.Equal(statuses, want) {
			t.Fatalf("round %d, the same bytes: %v\n%v", round, ends[0], ends[1])
		}
		if want := []int{0, 73}; !same && !slices.Equal(statuses, want) {
			t.Fatalf("round %d, other bytes: %v\n%v", round, ends[0], ends[1])
		}
		winner := slices.IndexFunc(ends, func(e end) bool { return e.status == 0 })
		if got := b.ok(b.inbox("alice", "take")); got != bodies[winner] {
			t.Fatalf("round %d: concluded with %q, and %q was told to have", round, got, bodies[winner])
		}
		b.exits(1, b.inbox("alice", "take"))
	}
	if n := len(b.names("bob", "done")); n != 200 {
		t.Errorf("%d tasks in done/ of 200", n)
	}
}

// Twenty that make a spool at once make one.
func TestCreateRace(t *testing.T) {
	for range 5 {
		b := newBench(t)
		var all []*exec.Cmd
		for i := range 20 {
			all = append(all, b.inbox(fmt.Sprint("peer", i), "create"))
		}
		for _, e := range b.race(all) {
			if e.status != 0 {
				t.Error(e)
			}
		}
		for i := range 20 {
			if n := len(b.names(fmt.Sprint("peer", i), "new")); n != 0 {
				t.Error(n)
			}
		}
		if left := b.siblings(); len(left) != 1 {
			t.Errorf("beside the spool: %q", left)
		}
	}
}
