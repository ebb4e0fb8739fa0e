//go:build powercut

package powercut

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// needed are the tools, by the package that has them.
var needed = map[string]string{
	"mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs", "xfs_io": "xfsprogs", "mount": "mount", "umount": "mount",
}

func wantTools(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("only root can mount a filesystem")
	}
	var missing []string
	for tool, pack := range needed {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, pack)
		}
	}
	if len(missing) > 0 {
		t.Fatalf("the test needs what these Debian packages hold: %s", strings.Join(missing, " "))
	}
}

// A disk is a filesystem in a file.
type disk struct {
	t          *testing.T
	image, dir string
}

// imageSize is enough for xfs, which wants 300 MB.
const imageSize = 400 << 20

func newDisk(t *testing.T, kind string) *disk {
	t.Helper()
	d := &disk{t, filepath.Join(t.TempDir(), "image"), filepath.Join(t.TempDir(), "mnt")}
	f, err := os.Create(d.image)
	if err == nil {
		err = f.Truncate(imageSize)
		_ = f.Close()
	}
	if err == nil {
		err = os.Mkdir(d.dir, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.run("mkfs."+kind, "-q", d.image)
	d.mount()
	t.Cleanup(func() { _ = exec.Command("umount", d.dir).Run() })
	return d
}

func (d *disk) run(name string, args ...string) {
	d.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		d.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

func (d *disk) mount() {
	d.t.Helper()
	d.run("mount", "-o", "loop", d.image, d.dir)
}

// cut is the power cut: from here on nothing reaches the disk.
func (d *disk) cut() {
	d.t.Helper()
	d.run("xfs_io", "-x", "-c", "shutdown", d.dir)
}

// restart mounts what is left.
func (d *disk) restart() {
	d.t.Helper()
	d.run("umount", d.dir)
	d.mount()
}
