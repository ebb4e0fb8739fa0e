package testscript_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"
)

// barrier is the program `barrier FILE N`: it returns when N processes have
// come to FILE, and exits 1 if they have not within half a minute.
func barrier() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: barrier file n")
		os.Exit(2)
	}
	n, err := strconv.Atoi(os.Args[2])
	if err == nil {
		err = meet(os.Args[1], n)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "barrier: %v\n", err)
		os.Exit(1)
	}
}

// meet holds the gate, a FIFO, open before it counts, so that what the last to
// come writes into it waits for everybody who was counted.
func meet(path string, n int) error {
	gatePath := path + ".gate"
	if err := syscall.Mkfifo(gatePath, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	gate, err := os.OpenFile(gatePath, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = gate.Close() }()
	here, err := arrive(path)
	if err != nil {
		return err
	}
	if here == n {
		_, err = gate.Write(make([]byte, n-1))
		return err
	}
	if err := gate.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	_, err = gate.Read(make([]byte, 1))
	return err
}

// arrive counts this process in and returns how many have come so far.
func arrive(path string) (int, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return 0, err
	}
	if _, err := f.Write([]byte{'.'}); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}
