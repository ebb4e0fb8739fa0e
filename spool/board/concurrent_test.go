package board

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"xfer/spool"
)

// A writer is one of many processes that append to the card "plan".
type writer struct {
	Spool   string
	Name    spool.Name
	Appends int
}

// write is what such a process does when its standard input ends.
func write(what string) error {
	var w writer
	if err := json.Unmarshal([]byte(what), &w); err != nil {
		return err
	}
	s, err := spool.Open(w.Spool, machine("here-00000001"))
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	b := Open(s)
	for i := range w.Appends {
		if err := w.append(b, i); err != nil {
			return fmt.Errorf("%s: append %d: %w", w.Name, i, err)
		}
	}
	return nil
}

func (w *writer) append(b *Board, i int) error {
	d := Draft{Type: "note", Author: w.Name, Text: fmt.Sprintf("%s says %d", w.Name, i)}
	for {
		_, err := b.Append(background, "plan", d)
		if !errors.Is(err, spool.ErrLocked) { // a queue of so many may take its time
			return err
		}
	}
}

// writers runs n processes that begin together, and returns how long they took.
func writers(t *testing.T, b *Board, n, appends int) time.Duration {
	t.Helper()
	gate, open, err := os.Pipe()
	must(t, err)
	var all []*exec.Cmd
	for i := range n {
		what, err := json.Marshal(writer{strings.TrimSuffix(b.h.Dir(), "/board"), spool.Name(fmt.Sprintf("writer-%d", i)), appends})
		must(t, err)
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), asWriter+"="+string(what))
		cmd.Stdin, cmd.Stderr = gate, os.Stderr
		must(t, cmd.Start())
		all = append(all, cmd)
	}
	must(t, gate.Close())
	begin := time.Now()
	must(t, open.Close())
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	return time.Since(begin)
}

// wantAll wants every entry of those writers, once, in the order of ids.
func wantAll(t *testing.T, c *Card, n, appends int) {
	t.Helper()
	count := make(map[string]int)
	for i, e := range c.Entries {
		count[e.Text()]++
		if i > 0 && c.Entries[i-1].ID >= e.ID {
			t.Errorf("%s after %s", e.ID, c.Entries[i-1].ID)
		}
	}
	for w := range n {
		for i := range appends {
			if text := fmt.Sprintf("writer-%d says %d", w, i); count[text] != 1 {
				t.Errorf("%q is there %d times", text, count[text])
			}
		}
	}
	if len(c.Entries) != n*appends {
		t.Errorf("%d entries, want %d", len(c.Entries), n*appends)
	}
}

func TestSixteenProcesses(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	took := writers(t, b, 16, 250)
	wantAll(t, read(t, b), 16, 250)
	nothingLeft(t, b, "plan.md")
	t.Logf("%.0f appends a second", 4000/took.Seconds())
}

// TestReaderSeesWholeCards lets eight processes append while a reader looks
// all the time, at the bytes, without a lock.
func TestReaderSeesWholeCards(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	stop, stopped := make(chan struct{}), make(chan struct{})
	reads, most := 0, 0
	go func() {
		defer close(stopped)
		for {
			c, err := b.Read(background, "plan")
			if err != nil {
				t.Error(err)
				return
			}
			for i, e := range c.Entries {
				if !strings.Contains(e.Text(), " says ") {
					t.Errorf("entry %d of %d reads %q", i, len(c.Entries), e.Text())
				}
			}
			if c.Size() < most {
				t.Errorf("%d entries after %d", c.Size(), most)
			}
			reads, most = reads+1, c.Size()
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	writers(t, b, 8, 200)
	close(stop)
	<-stopped
	wantAll(t, read(t, b), 8, 200)
	if reads < 100 || most < 100 {
		t.Errorf("%d reads, at last of %d entries", reads, most)
	}
}

// A lock dies with its holder, and what its file holds is nobody's business.
func TestLockOfTheDead(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	lock := strings.Replace(b.Path("plan"), "board/plan.md", "local/lock/card.plan", 1)
	for _, content := range []string{"1\n", fmt.Sprintln(1 << 22), "here-00000001 1 xfer-board"} {
		put(t, lock, content)
		appended(t, b, content)
	}
	holder := exec.Command("flock", lock, "sh", "-c", "echo held; exec cat")
	in, err := holder.StdinPipe()
	must(t, err)
	out, err := holder.StdoutPipe()
	must(t, err)
	must(t, holder.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	must(t, err)

	_, err = b.Append(background, "plan", note("never"))
	wantErr(t, err, spool.ErrLocked)
	if err == nil || !strings.Contains(err.Error(), "the lock card.plan is held by process ") {
		t.Errorf("error %v names no holder", err)
	}
	if c := read(t, b); c.Size() != 3 { // a reader takes no lock
		t.Errorf("%d entries", c.Size())
	}

	must(t, holder.Process.Kill())
	_ = in.Close() // its child, which has the lock too, ends
	_ = holder.Wait()
	appended(t, b, "after")
	if c := read(t, b); c.Size() != 4 {
		t.Errorf("%d entries", c.Size())
	}
}

func TestTogetherInOneProcess(t *testing.T) {
	b := newBoard(t)
	made(t, b)
	together(8, func(i int) {
		for j := range 20 {
			w := writer{Name: spool.Name(fmt.Sprintf("writer-%d", i))}
			if err := w.append(b, j); err != nil {
				t.Error(err)
			}
		}
	})
	wantAll(t, read(t, b), 8, 20)
}

func TestMintedCardsAreDistinct(t *testing.T) {
	b := newBoard(t)
	ids := make([]CardID, 20)
	together(len(ids), func(i int) {
		c, _, err := b.Create(background, "", "A card", "alice")
		if err != nil {
			t.Error(err)
			return
		}
		ids[i] = c.ID
	})
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 20 {
		t.Errorf("%d ids", n)
	}
}
