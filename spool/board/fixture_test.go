package board

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"xfer/internal/fault/deny"
	"xfer/spool"
)

// denyVariable names a system call that the whole test process has to do
// without, as on a filesystem that lacks it.
const denyVariable = "XFER_TEST_DENY"

// asWriter makes the test binary one of many processes that append.
const asWriter = "XFER_TEST_BOARD_WRITER"

func TestMain(m *testing.M) {
	if os.Getenv(denyVariable) == "renameat2" {
		if err := deny.Syscalls(syscall.ENOSYS, "renameat2"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if what := os.Getenv(asWriter); what != "" {
		if err := write(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var background = context.Background()

// machine is a system of its own that never waits for the disk.
func machine(h spool.Host) *spool.System {
	sys := spool.NewSystem()
	sys.Host = func() (spool.Host, error) { return h, nil }
	sys.Env = func(string) string { return "" }
	return sys.WithoutSync()
}

func newBoard(t *testing.T) *Board {
	t.Helper()
	s, err := spool.OpenOrCreate(filepath.Join(t.TempDir(), "spool"), machine("here-00000001"))
	must(t, err)
	return Open(s)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// made is a card "plan" on b.
func made(t *testing.T, b *Board) *Card {
	t.Helper()
	c, _, err := b.Create(background, "plan", "The plan", "alice")
	must(t, err)
	return c
}

func note(text string) Draft { return Draft{Type: "note", Author: "alice", Text: text} }

func appended(t *testing.T, b *Board, text string) spool.ID {
	t.Helper()
	a, err := b.Append(background, "plan", note(text))
	must(t, err)
	return a.Entry.ID
}

func read(t *testing.T, b *Board) *Card {
	t.Helper()
	c, err := b.Read(background, "plan")
	must(t, err)
	return c
}

// texts are those of the entries, in their order.
func texts(c *Card) []string {
	var all []string
	for i := range c.Entries {
		all = append(all, c.Entries[i].Text())
	}
	return all
}

func wantTexts(t *testing.T, c *Card, want ...string) {
	t.Helper()
	if got := texts(c); !slices.Equal(got, want) {
		t.Errorf("entries %q, want %q", got, want)
	}
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

func bytesOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// replace gives path new content as a sync tool does: a rename, and no lock.
func replace(t *testing.T, path, text string) {
	t.Helper()
	put(t, path+".arriving", text)
	must(t, os.Rename(path+".arriving", path))
}

// nothingLeft wants no file beside the cards and none in local/tmp.
func nothingLeft(t *testing.T, b *Board, names ...string) {
	t.Helper()
	for dir, want := range map[string][]string{b.h.Dir(): names, b.h.TempDir(): nil} {
		got, err := dirNames(dir)
		must(t, err)
		got = slices.DeleteFunc(got, func(name string) bool { return name == cursorsName })
		if !slices.Equal(got, want) {
			t.Errorf("%s holds %q, want %q", dir, got, want)
		}
	}
}

func parse(t *testing.T, text string) *Card {
	t.Helper()
	c, err := Parse([]byte(text))
	must(t, err)
	return c
}

// cardText is a card "plan" with this body.
func cardText(body ...string) string {
	return "---\nid: plan\ntitle: The plan\ncreated_by: alice\ncreated_at: 2026-11-30T06:33:33Z\n---\n" + strings.Join(body, "")
}

const entryHead = "### %s · note · alice · 2026-11-30T06:33:33Z\n"

func entryText(id spool.ID, text string) string {
	return "\n" + fmt.Sprintf(entryHead, id) + "\n" + text + "\n"
}

const (
	id1 spool.ID = "01kb9w6t3v8f5s7q2m4x0c1d91"
	id2 spool.ID = "01kb9w6t3v8f5s7q2m4x0c1d92"
	id3 spool.ID = "01kb9w6t3v8f5s7q2m4x0c1d93"
)

// together runs f n times at once, and returns when all have ended.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}
