package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"xfer/spool"
)

const takers = 50

// take starts that many takers that wait.
func (w *world) take(wait string) []*process {
	w.t.Helper()
	all := make([]*process, takers)
	for i := range all {
		all[i] = w.start("xfer-inbox", "-q", "take", "--wait", wait)
	}
	return all
}

func TestWaitingCostsNextToNothing(t *testing.T) {
	w := newWorld(t, "bob")
	var spent time.Duration
	for _, p := range w.take("2s") {
		p.wantEnd("1", "")
		spent += cost(p.ProcessState)
	}
	if spent > time.Second {
		t.Errorf("%d takers waited for %s of processor time", takers, spent)
	}
}

func TestOneOfManyGetsIt(t *testing.T) {
	w := newWorld(t, "bob")
	all := w.take("4s")
	for _, p := range all {
		eventually(t, "a taker that waits", func() bool { return watches(p.Process.Pid) })
	}
	w.send(1)
	got, waited := 0, 0
	for _, p := range all {
		lines := 0
		for range p.lines {
			lines++
		}
		switch end := p.end(); {
		case end == "0" && lines == 1:
			got++
		case end == "1" && lines == 0:
			waited++
		default:
			t.Errorf("a taker ended with %s and %d lines: %q", end, lines, p.stderr.String())
		}
	}
	if got != 1 || waited != takers-1 {
		t.Errorf("%d takers got it, %d waited on", got, waited)
	}
}

// watches tells whether process pid has inotify watches.
func watches(pid int) bool {
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if b, err := os.ReadFile(fd); err == nil && strings.Contains(string(b), "inotify wd:") {
			return true
		}
	}
	return false
}

// Ten seconds stand for a minute: ten milliseconds for sixty.
func TestIdleReceiverIsIdle(t *testing.T) {
	w := newWorld(t, "bob")
	p := w.receiver()
	want(t, "announced", w.send(1), p.id())
	eventually(t, "a receiver that watches", func() bool { return watches(p.Process.Pid) })
	before := onProcessor(t, p.Process.Pid)
	<-time.After(10 * time.Second)
	if spent := onProcessor(t, p.Process.Pid) - before; spent > 10*time.Millisecond {
		t.Errorf("an idle receiver spent %s in 10 s", spent)
	}
}

// onProcessor is how long the threads of a process have run (proc(5),
// schedstat).
func onProcessor(t *testing.T, pid int) (d time.Duration) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("no schedstat of %d: %v", pid, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		word, _, _ := strings.Cut(string(b), " ")
		ns, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		d += time.Duration(ns)
	}
	return d
}

// Of two receivers that are started at once exactly one holds the name, a
// hundred times.
func TestOneHoldsTheName(t *testing.T) {
	const rounds, atOnce = 100, 20
	var names []spool.Name
	for i := range rounds {
		names = append(names, spool.Name(fmt.Sprint("n", i)))
	}
	w := newWorld(t, names...)
	turn := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, n := range names {
		turn <- struct{}{}
		all.Go(func() {
			defer func() { <-turn }()
			if err := w.race(n); err != nil {
				t.Errorf("%s: %v", n, err)
			}
		})
	}
	all.Wait()
}

// race starts two receivers of n and wants one of them refused, and the other
// to hold the name until it is stopped.
func (w *world) race(n spool.Name) error {
	type ended struct {
		i   int
		how syscall.WaitStatus
	}
	ends := make(chan ended, 2)
	var cmds [2]*os.Process
	for i := range cmds {
		cmd := w.command("xfer-recv", "-q", "--as", string(n))
		if err := cmd.Start(); err != nil {
			return err
		}
		cmds[i] = cmd.Process
		defer func() { _ = cmd.Process.Kill() }()
		go func() {
			_ = cmd.Wait()
			ends <- ended{i, cmd.ProcessState.Sys().(syscall.WaitStatus)}
		}()
	}
	first := <-ends
	if first.how.ExitStatus() != 75 {
		return fmt.Errorf("the first to end exits with %d", first.how.ExitStatus())
	}
	if state := w.state(n); state != spool.Idle {
		return fmt.Errorf("the other one is %q", state)
	}
	select {
	case other := <-ends:
		return fmt.Errorf("the other one ends too, with %d", other.how.ExitStatus())
	default:
	}
	if err := cmds[1-first.i].Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if other := <-ends; other.how.Signal() != syscall.SIGTERM || w.state(n) != spool.Stopped {
		return fmt.Errorf("the other one ends with %v, as %q", other.how, w.state(n))
	}
	return nil
}
