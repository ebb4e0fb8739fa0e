package tool

import (
	"testing"
	"time"
)

func TestTalk(t *testing.T) {
	p := single(func(c *Call) error {
		c.Err.Say("sent %q to %s", "a", "b\x1b\n")
		c.Err.Always("told")
		return Usage("x")
	})
	equal(t, "plain", runProgram(t, p).stderr, "xfer-one: sent \"a\" to b\\x1b\\x0a\nxfer-one: told\nxfer-one: x\n")
	equal(t, "-q", runProgram(t, p, "-q").stderr, "xfer-one: told\nxfer-one: x\n")
	equal(t, "--json", runProgram(t, p, "--json").stderr, `{"error":"x","class":"usage","status":64}`+"\n")
}

func TestProgress(t *testing.T) {
	tty, screen, _ := terminal(t)
	tick := make(chan time.Time)
	pr := process(t)
	pr.Stderr = tty
	pr.After = func(d time.Duration) <-chan time.Time {
		equal(t, "between two", d, time.Second)
		return tick
	}
	Run(single(func(c *Call) error {
		n := 0
		done := c.Err.Progress(func() string { n++; return []string{"", "one\x1b", "two"}[n] })
		tick <- noon
		screen("one")
		c.Err.Say("said")
		tick <- noon
		screen("two")
		done()
		done()
		return nil
	}), pr)
	equal(t, "screen", screen("two"+wipe), wipe+`xfer-one: one\x1b`+wipe+"xfer-one: said\n"+wipe+"xfer-one: two"+wipe)
}

func TestNoProgressElsewhere(t *testing.T) {
	pr := process(t)
	pr.After = func(time.Duration) <-chan time.Time {
		t.Error("waited")
		return nil
	}
	Run(single(func(c *Call) error {
		c.Err.Progress(func() string { return "x" })()
		return nil
	}), pr)
	equal(t, "stderr", content(t, pr.Stderr), "")
}
