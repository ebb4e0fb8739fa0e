package command

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"xfer/spool"
)

// A receiver as a service: SIGHUP has it look at everything again, and systemd
// is told when it is ready and what it does (sd_notify(3)), where it asks for
// that in $NOTIFY_SOCKET.

// rescanOnHangup nudges w at each SIGHUP until stop is called. A hangup that
// was ignored at the start, as under nohup(1), stays ignored.
func rescanOnHangup(w *spool.Watch) (stop func()) {
	if signal.Ignored(syscall.SIGHUP) {
		return func() {}
	}
	ch := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(ch, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-ch:
				w.Nudge()
			case <-done:
				return
			}
		}
	}()
	return func() { signal.Stop(ch); close(done) }
}

// tellService tells systemd something, where it listens: sd_notify(3). It is a
// system call of its own because the usual library brings package net along,
// which every program would start with.
func (x *receiving) tellService(state string) {
	name := x.Process.System.Env("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	// A service manager that is gone changes nothing.
	_ = unix.Sendto(fd, []byte(state), unix.MSG_NOSIGNAL, &unix.SockaddrUnix{Name: name})
	_ = unix.Close(fd)
}

func (x *receiving) ready() {
	x.tellService("READY=1\nSTATUS=receiving as " + x.listed())
}

// listed is the names that are held, for a status line.
func (x *receiving) listed() string {
	text := ""
	for i, r := range x.holding {
		if i == 3 {
			return text + fmt.Sprintf(" and %d more", len(x.holding)-i)
		}
		if i > 0 {
			text += ", "
		}
		text += string(r.Mailbox().Name())
	}
	return text
}
