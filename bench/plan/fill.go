package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"xfer/spool"
)

func system() *spool.System {
	sys := spool.NewSystem()
	sys.Host = func() (spool.Host, error) { return "bench-00000001", nil }
	sys.Env = func(string) string { return "" }
	return sys
}

const header = `From: alice@bench-00000001
To: bob@xfer
Subject: a yardstick
Date: %s
Message-ID: <%s@xfer>
MIME-Version: 1.0
Content-Type: text/plain
Content-Transfer-Encoding: 8bit
Xfer-Kind: notification
Xfer-Size: %012d
Xfer-Digest: sha256:%x

%s`

// fill makes a spool in which bob has n finished handoffs, with their links in
// the registry where they were sent from here. Nothing is synced.
func fill(dir string, n int, sentHere bool) error {
	sys := system()
	s, err := spool.OpenOrCreate(dir, sys)
	if err != nil {
		return err
	}
	if _, _, err := s.Create(context.Background(), "bob", ""); err != nil {
		return err
	}
	m, err := s.Mailbox("bob")
	if err != nil {
		return err
	}
	if err := m.MayWork(context.Background(), false); err != nil {
		return err
	}
	const body = "a body\n"
	date, digest := time.Now().UTC().Format(time.RFC1123Z), sha256.Sum256([]byte(body))
	for range n {
		id, err := sys.NewID()
		if err != nil {
			return err
		}
		path := m.Path(spool.Finished, id)
		if err := os.WriteFile(path, fmt.Appendf(nil, header, date, id, len(body), digest, body), 0o600); err != nil {
			return err
		}
		if !sentHere {
			continue
		}
		shelf := filepath.Join(dir, "local", "ids", string(id[len(id)-2:]))
		if err := os.MkdirAll(shelf, 0o700); err != nil {
			return err
		}
		if err := os.Link(path, filepath.Join(shelf, string(id))); err != nil {
			return err
		}
	}
	return nil
}
