package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func environment(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestSpoolDir(t *testing.T) {
	show := single(func(c *Call) error {
		dir, from, err := c.SpoolDir()
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(c.Out.Raw(), dir+" by "+from)
		return err
	})
	all := map[string]string{"XFER_SPOOL": "/s", "XDG_DATA_HOME": "/d", "HOME": "/h"}
	for _, c := range []struct {
		env  map[string]string
		args []string
		want run
	}{
		{all, []string{"--spool", "rel/x"}, run{0, "rel/x by --spool", ""}},
		{all, nil, run{0, "/s by $XFER_SPOOL", ""}},
		{map[string]string{"XDG_DATA_HOME": "/d", "HOME": "/h"}, nil, run{0, "/d/xfer by $XDG_DATA_HOME", ""}},
		{map[string]string{"XDG_DATA_HOME": "d", "HOME": "/h"}, nil, run{0, "/h/.local/share/xfer by $HOME", ""}},
		{map[string]string{"XFER_SPOOL": "", "HOME": "/h"}, nil, run{0, "/h/.local/share/xfer by $HOME", ""}},
		{map[string]string{"XFER_SPOOL": "./s", "HOME": "/h"}, nil, run{78, "", "xfer-one: read $XFER_SPOOL \"./s\": not an absolute path\n"}},
		{nil, nil, run{78, "", "xfer-one: find the spool: $HOME is not set to an absolute path\nxfer-one: hint: set XFER_SPOOL or give --spool DIR\n"}},
		{all, []string{"--spool="}, run{64, "", "xfer-one: flag \"--spool\": needs a value\n"}},
	} {
		pr := process(t, c.args...)
		pr.System.Env = environment(c.env)
		equal(t, fmt.Sprint(c.env, c.args), runIn(t, show, pr), c.want)
	}
}

func TestMe(t *testing.T) {
	show := single(func(c *Call) error {
		name, from, err := c.Me()
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(c.Out.Raw(), string(name)+" by "+from)
		return err
	})
	all := map[string]string{"XFER_NAME": "x", "LOGNAME": "l", "USER": "u"}
	for _, c := range []struct {
		env  map[string]string
		args []string
		want run
	}{
		{all, []string{"--as", "a"}, run{0, "a by --as", ""}},
		{all, nil, run{0, "x by $XFER_NAME", ""}},
		{map[string]string{"LOGNAME": "l", "USER": "u"}, nil, run{0, "l by login name ($LOGNAME)", ""}},
		{map[string]string{"USER": "u"}, nil, run{0, "u by login name ($USER)", ""}},
		{all, []string{"--as", "a", "--as", "b"}, run{64, "", "xfer-one: flag \"--as\": given more than once\n"}},
		{all, []string{"--as", "../x"}, run{64, "", "xfer-one: --as \"../x\": a name begins with a letter or a digit\n"}},
		{all, []string{"--as="}, run{64, "", "xfer-one: --as: a name cannot be empty\n"}},
		{map[string]string{"XFER_NAME": "Bob"}, nil, run{64, "", "xfer-one: read $XFER_NAME \"Bob\": a name has only a-z, 0-9, '.', '_' and '-'\n"}},
		{map[string]string{"USER": "Bob"}, nil, run{64, "", "xfer-one: login name \"Bob\": a name has only a-z, 0-9, '.', '_' and '-'\nxfer-one: hint: set XFER_NAME or give --as NAME\n"}},
	} {
		pr := process(t, c.args...)
		pr.System.Env = environment(c.env)
		equal(t, fmt.Sprint(c.env, c.args), runIn(t, show, pr), c.want)
	}
}

func TestNames(t *testing.T) {
	show := single(func(c *Call) error {
		names, _, err := c.Names()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.Out.Raw(), "%q", names)
		return err
	})
	equal(t, "two", runProgram(t, show, "--as", "b", "--as", "a"), run{0, `["b" "a"]`, ""})
	equal(t, "one bad", runProgram(t, show, "--as", "b", "--as", "A").status, 64)
}

func TestPasswdName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(path, []byte("root:x:0:0::/:/bin/sh\n\nbroken\nann:x:10:1::/:/bin/sh\nbob:x:1:1::/:/bin/sh\ncat:x:1:1::/:/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	equal(t, "1", passwdName(path, 1), "bob")
	equal(t, "10", passwdName(path, 10), "ann")
	equal(t, "2", passwdName(path, 2), "")
	equal(t, "no file", passwdName(path+"x", 1), "")
}
