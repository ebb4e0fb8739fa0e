package spool

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"xfer/internal/durable"
)

// A Host names one machine, or one container that says it is another: the
// short host name in NAME's alphabet, '-', and eight hex digits of a hash of
// the machine id. It has NAME's grammar.
type Host string

const hostHash = 8

// Same tells whether h and o are one machine: by the hash where both have
// one, so that a renamed machine stays itself.
func (h Host) Same(o Host) bool { return h.key() == o.key() }

func (h Host) key() string {
	i := len(h) - hostHash
	if i > 0 && h[i-1] == '-' {
		if _, err := hex.DecodeString(string(h[i:])); err == nil {
			return string(h[i-1:]) // with its '-': a host may have a hash for a name
		}
	}
	return string(h)
}

// ParseHost returns s as a Host; it has the grammar of a Name, and the error
// is ErrName.
func ParseHost(s string) (Host, error) {
	if why := nameFault(s); why != "" {
		return "", &Error{Op: "host", Name: s, Err: Because(ErrName, strings.Replace(why, "name", "host", 1))}
	}
	return Host(s), nil
}

// hostOf is $XFER_HOST where it is set, else this machine's name and a hash
// of its id. Nothing of it is ever stored in the spool by this function.
func hostOf(env func(string) string) (Host, error) {
	if s := env("XFER_HOST"); s != "" {
		h, err := ParseHost(s)
		if err != nil {
			return "", &Error{Op: "read $XFER_HOST", Name: s, Err: Because(ErrConfig, nameFault(s))}
		}
		return h, nil
	}
	id, err := machineID(env)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte("xfer host " + id))
	name, _ := os.Hostname()
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	var b strings.Builder
	for i := 0; i < len(name) && b.Len() < maxName-1-hostHash; i++ {
		c := name[i]
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' && b.Len() > 0 {
			b.WriteByte(c)
		}
	}
	if b.Len() == 0 || windowsDevice(b.String()) || strings.Contains(b.String(), "sync-conflict") {
		b.Reset()
		b.WriteString("host")
	}
	return Host(b.String() + "-" + hex.EncodeToString(sum[:])[:hostHash]), nil
}

// machineID is machine-id(5), or what was made once under $XDG_STATE_HOME on
// a machine that has none.
func machineID(env func(string) string) (string, error) {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		var b [256]byte
		if n, err := durable.Head(path, b[:]); err == nil && len(strings.TrimSpace(string(b[:n]))) >= hostHash {
			return strings.TrimSpace(string(b[:n])), nil
		}
	}
	return madeMachineID(env)
}

// madeMachineID is the id that was made, or is made now, under
// $XDG_STATE_HOME.
func madeMachineID(env func(string) string) (string, error) {
	state := env("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		state = filepath.Join(env("HOME"), ".local", "state")
	}
	if !filepath.IsAbs(state) {
		return "", &Error{Op: "name this host", Err: Because(ErrConfig, "no machine id, and neither $XDG_STATE_HOME nor $HOME to make one in"),
			Hint: "set XFER_HOST to a name of this machine"}
	}
	path := filepath.Join(state, "xfer", "machine-id")
	for range 2 {
		b, err := os.ReadFile(path)
		if err == nil && len(b) >= hostHash {
			return strings.TrimSpace(string(b)), nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", &Error{Op: "read", Name: path, Err: err}
		}
		if err := newMachineID(path); err != nil {
			return "", err
		}
	}
	return "", &Error{Op: "read", Name: path, Err: Because(ErrConfig, "too short for a machine id"), Hint: "rm " + path}
}

// newMachineID makes the id whole or not at all; two that make it at once
// agree on one, since publishing replaces nothing.
func newMachineID(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return &Error{Op: "make", Name: filepath.Dir(path), Err: err}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "machine-id.")
	if err != nil {
		return &Error{Op: "make", Name: path, Err: err}
	}
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	var b [16]byte
	if _, err := io.ReadFull(kernelRandom{}, b[:]); err != nil {
		return &Error{Op: "make", Name: path, Err: err}
	}
	if _, err := f.WriteString(hex.EncodeToString(b[:]) + "\n"); err != nil {
		return &Error{Op: "write", Name: path, Err: err}
	}
	if err := f.Sync(); err != nil {
		return &Error{Op: "write", Name: path, Err: err}
	}
	if err := durable.Publish(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return &Error{Op: "make", Name: path, Err: err}
	}
	return nil
}
