package command

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/coreos/go-systemd/v22/daemon"

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

// tellService tells systemd something, where it listens.
func tellService(state string) {
	_, _ = daemon.SdNotify(false, state) // a service manager that is gone changes nothing
}

func (x *receiving) ready() {
	tellService(fmt.Sprintf("%s\nSTATUS=receiving as %s", daemon.SdNotifyReady, x.listed()))
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
