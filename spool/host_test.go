package spool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestHostFromTheEnvironment(t *testing.T) {
	if h, err := hostOf(env("XFER_HOST", "pod-7")); h != "pod-7" || err != nil {
		t.Errorf("got %q, %v", h, err)
	}
	for _, s := range []string{"Pod", "a/b", "..", "-x", "con", "a b"} {
		_, err := hostOf(env("XFER_HOST", s))
		wantErr(t, err, ErrConfig)
	}
}

func TestHostOfTheMachine(t *testing.T) {
	e := env("XDG_STATE_HOME", t.TempDir())
	h, err := hostOf(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseHost(string(h)); err != nil {
		t.Error(err)
	}
	if key := h.key(); len(key) != 1+hostHash || !strings.HasSuffix(string(h), key) {
		t.Errorf("%q has no hash", h)
	}
	if again, err := hostOf(e); again != h || err != nil {
		t.Errorf("at another time %q, %v", again, err)
	}
}

func TestSameHost(t *testing.T) {
	for _, c := range []struct {
		a, b Host
		same bool
	}{
		{"laptop-3fa09c11", "laptop-3fa09c11", true},
		{"laptop-3fa09c11", "renamed-3fa09c11", true},
		{"laptop-3fa09c11", "laptop-3fa09c12", false},
		{"pod", "pod", true},
		{"pod", "pod2", false},
		{"pod", "pod-3fa09c11", false},
		{"3fa09c11", "pod-3fa09c11", false},
		{"a-3fa09c1g", "b-3fa09c1g", false},
		{"", "laptop-3fa09c11", false},
	} {
		if c.a.Same(c.b) != c.same || c.b.Same(c.a) != c.same {
			t.Errorf("%q and %q: want same %t", c.a, c.b, c.same)
		}
	}
}

// On a machine without an id one is made, once.
func TestHostMadeMachineID(t *testing.T) {
	dir := t.TempDir()
	ids := make([]string, 16)
	race(len(ids), func(i int) {
		var err error
		if ids[i], err = madeMachineID(env("XDG_STATE_HOME", dir)); err != nil {
			t.Error(err)
		}
	})
	for _, id := range ids {
		if id != ids[0] || len(id) != 32 {
			t.Fatalf("made at once: %q", ids)
		}
	}
	if names, err := os.ReadDir(filepath.Join(dir, "xfer")); err != nil || len(names) != 1 {
		t.Errorf("left: %v, %v", names, err)
	}
	home := t.TempDir()
	if _, err := madeMachineID(env("HOME", home, "XDG_STATE_HOME", "relative")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(home, ".local/state/xfer/machine-id")); err != nil {
		t.Error(err)
	}
	_, err := madeMachineID(env())
	wantErr(t, err, ErrConfig)
	put(t, filepath.Join(dir, "xfer", "machine-id"), []byte("\n"))
	_, err = madeMachineID(env("XDG_STATE_HOME", dir))
	wantErr(t, err, ErrConfig)
}
