package tool

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"xfer/spool"
)

// SpoolDir is where the spool is: --spool, else $XFER_SPOOL, else
// $XDG_DATA_HOME/xfer, else ~/.local/share/xfer; from says which of them it
// was. Only --spool may be relative, and is returned as typed. The error is
// ErrUsage or ErrConfig; the directory is not looked at.
func (c *Call) SpoolDir() (dir, from string, err error) {
	if c.IsSet("spool") {
		if dir = c.String("spool"); dir == "" {
			return "", "", flagError("--spool", "needs a value")
		}
		return dir, "--spool", nil
	}
	env := c.Process.System.Env
	if dir = env("XFER_SPOOL"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", "", &spool.Error{Op: "read $XFER_SPOOL", Name: dir, Err: spool.Because(spool.ErrConfig, "not an absolute path")}
		}
		return dir, "$XFER_SPOOL", nil
	}
	// A relative one is to be ignored ("XDG Base Directory Specification").
	if dir = env("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "xfer"), "$XDG_DATA_HOME", nil
	}
	home := env("HOME")
	if !filepath.IsAbs(home) {
		err := spool.Because(spool.ErrConfig, "$HOME is not set to an absolute path")
		return "", "", &spool.Error{Op: "find the spool", Err: err, Hint: "set XFER_SPOOL or give --spool DIR"}
	}
	return filepath.Join(home, ".local", "share", "xfer"), "$HOME", nil
}

const whoHint = "set XFER_NAME or give --as NAME"

// Me is who the caller is: --as, else $XFER_NAME, else the login name; from
// says which of them it was. The error is ErrUsage, or ErrName where what was
// found is outside a name's grammar.
func (c *Call) Me() (name spool.Name, from string, err error) {
	names, from, err := c.Names()
	if err != nil {
		return "", "", err
	}
	if len(names) > 1 {
		return "", "", flagError("--as", "given more than once")
	}
	return names[0], from, nil
}

// Names is Me for a verb that acts for several: each --as, in their order.
func (c *Call) Names() (names []spool.Name, from string, err error) {
	if typed := c.StringSlice("as"); len(typed) > 0 {
		for _, s := range typed {
			name, err := parseName("--as", s, "")
			if err != nil {
				return nil, "", err
			}
			names = append(names, name)
		}
		return names, "--as", nil
	}
	env := c.Process.System.Env
	if s := env("XFER_NAME"); s != "" {
		name, err := parseName("read $XFER_NAME", s, "")
		return []spool.Name{name}, "$XFER_NAME", err
	}
	s, from := loginName(env)
	if s == "" {
		return nil, "", WithHint(Usage("who am I: no login name"), whoHint)
	}
	name, err := parseName("login name", s, whoHint)
	return []spool.Name{name}, from, err
}

func parseName(op, s, hint string) (spool.Name, error) {
	name, err := spool.ParseName(s)
	var in *spool.Error
	if errors.As(err, &in) {
		return "", &spool.Error{Op: op, Name: s, Err: in.Err, Hint: hint}
	}
	return name, err
}

// loginName asks the environment first, which costs nothing. It does not ask
// os/user: with cgo that doubles the time a program takes to start.
func loginName(env func(string) string) (name, from string) {
	for _, v := range []string{"LOGNAME", "USER"} {
		if s := env(v); s != "" {
			return s, "login name ($" + v + ")"
		}
	}
	return passwdName("/etc/passwd", os.Geteuid()), "login name (/etc/passwd)"
}

// passwdName is the first name that passwd(5) has for uid; empty where there
// is none.
func passwdName(path string, uid int) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		_, rest, _ = strings.Cut(rest, ":")
		id, _, _ := strings.Cut(rest, ":")
		if id == strconv.Itoa(uid) {
			return name
		}
	}
	return ""
}
