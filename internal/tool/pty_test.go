package tool

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is the program's side of a terminal; screen reads what was written
// to it, up to and with mark, and keys is its keyboard.
func terminal(t *testing.T) (tty *os.File, screen func(mark string) string, keys io.StringWriter) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	var got bytes.Buffer
	return tty, func(mark string) string {
		t.Helper()
		for buf := make([]byte, 1024); !strings.Contains(got.String(), mark); {
			n, err := master.Read(buf)
			if err != nil {
				t.Fatalf("%v after %q", err, got.String())
			}
			got.Write(buf[:n])
		}
		return strings.ReplaceAll(got.String(), "\r\n", "\n")
	}, master
}
