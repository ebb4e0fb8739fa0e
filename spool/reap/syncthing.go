package reap

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"xfer/spool"
)

// hintOf is what an error says to do.
func hintOf(err error) string {
	if e := (*spool.Error)(nil); errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

// syncthingConfig is what of Syncthing's config.xml matters here.
type syncthingConfig struct {
	Folders []struct {
		ID           string `xml:"id,attr"`
		Path         string `xml:"path,attr"`
		MaxConflicts *int   `xml:"maxConflicts"` // nil: Syncthing's default, which keeps some
	} `xml:"folder"`
}

const maxConfig = 4 << 20

// syncthingFaults looks for a Syncthing of this user's that carries the spool
// and throws conflicts away.
func syncthingFaults(home, dir string) []Finding {
	abs, err := filepath.Abs(dir)
	if err != nil || home == "" {
		return nil
	}
	var all []Finding
	for _, path := range []string{".local/state/syncthing/config.xml", ".config/syncthing/config.xml"} {
		f, err := os.Open(filepath.Join(home, path))
		if err != nil {
			continue
		}
		var c syncthingConfig
		err = xml.NewDecoder(io.LimitReader(f, maxConfig)).Decode(&c)
		_ = f.Close()
		if err != nil {
			continue
		}
		for _, folder := range c.Folders {
			root := folder.Path
			if rest, ok := strings.CutPrefix(root, "~/"); ok {
				root = filepath.Join(home, rest)
			}
			if (abs == root || strings.HasPrefix(abs, strings.TrimSuffix(root, "/")+"/")) && folder.MaxConflicts != nil && *folder.MaxConflicts == 0 {
				all = append(all, Finding{"sync", spool.Fault, ".", spool.Say("Syncthing's folder keeps no conflict copies: edits of cards are thrown away"),
					"set maxConflicts of that folder to 10 in Syncthing's advanced settings"})
			}
		}
	}
	return all
}
