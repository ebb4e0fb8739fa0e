// Package e2e holds the tests that need the programs as processes: several at
// once, killed, or measured. There is nothing in it for programs.
package e2e
