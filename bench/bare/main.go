// Bare writes a line for each name that is moved into a directory, and does
// nothing else: inotify and write, in Go. It is the yardstick for the time from
// a publish to xfer-recv's line, never a receiver to use: it looks into nothing
// and moves nothing.
//
//	bare DIR
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func main() {
	fmt.Fprintf(os.Stderr, "bare: %v\n", run(os.Args[1:]))
	os.Exit(74)
}

// run returns only an error.
func run(args []string) error {
	if len(args) != 1 {
		return errors.New("a directory")
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return err
	}
	if _, err := unix.InotifyAddWatch(fd, args[0], unix.IN_MOVED_TO); err != nil {
		return err
	}
	events := os.NewFile(uintptr(fd), "inotify")
	buf := make([]byte, 64<<10)
	for {
		n, err := events.Read(buf)
		if err != nil {
			return err
		}
		for rest := buf[:n]; len(rest) > 0; {
			size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(rest[12:])) // its len, see inotify(7)
			name, _, _ := bytes.Cut(rest[unix.SizeofInotifyEvent:size], []byte{0})
			if _, err := os.Stdout.Write(append(name, '\n')); err != nil {
				return err
			}
			rest = rest[size:]
		}
	}
}
