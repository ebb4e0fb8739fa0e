package tool

import (
	"bufio"
	"strings"
)

// Confirm asks question on a terminal and is nil after a yes. With --yes it
// does not ask. Elsewhere than on a terminal nothing is asked: the error is
// ErrUsage, with --yes as its hint.
func (c *Call) Confirm(question string) error {
	if c.Bool("yes") {
		return nil
	}
	if !isTerminal(c.Process.Stdin) || !isTerminal(c.Process.Stderr) {
		return WithHint(Usage("no terminal on which to ask: "+question), "give --yes")
	}
	c.Err.write(c.Program + ": " + Clean(question) + " [y/N] ")
	line, _ := bufio.NewReader(c.Process.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return Usage("nothing was changed")
}
