// Fill puts many handoffs into a mailbox, as a foreign writer that keeps to
// the format and does without syncs: a yardstick for a long queue has to be
// there in seconds.
//
//	fill SPOOL NAME COUNT < BODY
//
// The mailbox has to be there. Each handoff is a whole notification with its
// link in the registry. An error leaves what was filled so far.
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"xfer/spool"
)

const header = `From: bench@bench-00000000
To: %s@xfer
Subject: a yardstick
Date: %s
Message-ID: <%s@xfer>
MIME-Version: 1.0
Content-Type: text/markdown; charset=utf-8
Content-Transfer-Encoding: 8bit
Xfer-Kind: notification
Xfer-Size: %012d
Xfer-Digest: sha256:%x

`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "fill: %v\n", err)
		os.Exit(74)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("a spool, a name and a count, not %q", args)
	}
	name, err := spool.ParseName(args[1])
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	return fill(args[0], name, count, body)
}

func fill(dir string, name spool.Name, count int, body []byte) error {
	sys := spool.NewSystem()
	digest := sha256.Sum256(body)
	date := time.Now().UTC().Format(time.RFC1123Z)
	for range count {
		id, err := sys.NewID()
		if err != nil {
			return err
		}
		text := append(fmt.Appendf(nil, header, name, date, id, len(body), digest), body...)
		if err := put(dir, name, id, text); err != nil {
			return err
		}
	}
	return nil
}

func put(dir string, name spool.Name, id spool.ID, text []byte) error {
	mailbox := filepath.Join(dir, "peers", string(name))
	temp := filepath.Join(mailbox, "tmp", string(id)+".fill")
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return err
	}
	shelf := filepath.Join(dir, "local", "ids", string(id[len(id)-2:]))
	if err := os.MkdirAll(shelf, 0o700); err != nil {
		return err
	}
	if err := os.Link(temp, filepath.Join(shelf, string(id))); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(mailbox, "new", string(id)))
}
