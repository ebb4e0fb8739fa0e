// Wake times receivers side by side: from the rename that publishes a handoff
// to the line that the receiver writes into a pipe.
//
//	wake [-n N] [-warm N] [-json] SPOOL FLOOR RECV
//
// FLOOR is the yardstick, run on the mailbox "floor" of the spool, RECV is
// xfer-recv, run on the mailbox "recv"; both have to be there. Each round
// publishes one handoff to each, in an order that changes, waits for the line,
// and takes the handoff away; what is printed is the median over the rounds, as pairs prints it.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"xfer/bench/measure"
	"xfer/spool"
)

const header = `From: bench@bench-00000000
To: %s@xfer
Subject: a yardstick
Date: Mon, 30 Nov 2026 06:33:33 +0000
Message-ID: <%s@xfer>
MIME-Version: 1.0
Content-Type: text/markdown; charset=utf-8
Content-Transfer-Encoding: 8bit
Xfer-Kind: notification
Xfer-Size: %012d
Xfer-Digest: sha256:%x

%s`

const body = "# A yardstick\n\na line\n"

// pause lets a receiver that has written its line finish with it and go back
// to waiting: it is woken from sleep each time.
const pause = 5 * time.Millisecond

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "wake: %v\n", err)
		os.Exit(74)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("wake", flag.ContinueOnError)
	rounds := flags.Int("n", 150, "`rounds` that count")
	warm := flags.Int("warm", 10, "`rounds` before them that do not")
	asJSON := flags.Bool("json", false, "one JSON object a receiver")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 3 || *rounds < 1 {
		return errors.New("a spool, the yardstick and xfer-recv, and at least one round")
	}
	dir := flags.Arg(0)
	floor, err := begin("inotify and write", dir, "floor", flags.Arg(1), filepath.Join(dir, "peers", "floor", "new"))
	if err != nil {
		return err
	}
	defer floor.end()
	recv, err := begin("xfer-recv", dir, "recv", flags.Arg(2), "--spool", dir, "--as", "recv")
	if err != nil {
		return err
	}
	recv.moves = true
	defer recv.end()
	results, err := compare([]*receiver{floor, recv}, *warm, *rounds)
	if err != nil {
		return err
	}
	return report(os.Stdout, results, *asJSON)
}

// A receiver is a process that writes a line for each handoff.
type receiver struct {
	label, dir string
	to         spool.Name
	moves      bool // to cur/, what it has written a line for
	cmd        *exec.Cmd
	lines      *bufio.Reader
	sys        *spool.System
}

// begin starts a receiver, and returns when it has woken once.
func begin(label, dir string, to spool.Name, program string, args ...string) (*receiver, error) {
	r := &receiver{label: label, dir: filepath.Join(dir, "peers", string(to)), to: to, cmd: exec.Command(program, args...), sys: spool.NewSystem()}
	r.cmd.Stderr = os.Stderr
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.lines = bufio.NewReader(out)
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	for !watches(r.cmd.Process.Pid) {
		time.Sleep(pause)
	}
	return r, nil
}

// watches tells whether a process has inotify watches (proc(5), fdinfo).
func watches(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && strings.Contains(string(b), "inotify wd:") {
			return true
		}
	}
	return false
}

func (r *receiver) end() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

// once publishes a handoff and waits for its line.
func (r *receiver) once() (time.Duration, error) {
	id, err := r.sys.NewID()
	if err != nil {
		return 0, err
	}
	temp, queued := filepath.Join(r.dir, "tmp", string(id)+".wake"), filepath.Join(r.dir, "new", string(id))
	text := fmt.Sprintf(header, r.to, id, len(body), sha256.Sum256([]byte(body)), body)
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		return 0, err
	}
	time.Sleep(pause)
	start := time.Now()
	if err := os.Rename(temp, queued); err != nil {
		return 0, err
	}
	line, err := r.lines.ReadString('\n')
	took := time.Since(start)
	if err == nil && !strings.HasPrefix(line, string(id)) {
		err = fmt.Errorf("%s: line %q, want that of %s", r.label, line, id)
	}
	if err != nil {
		return 0, err
	}
	return took, r.take(id)
}

// take moves the handoff away as a taker would, once it is received.
func (r *receiver) take(id spool.ID) error {
	finished := filepath.Join(r.dir, "done", string(id))
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(pause) {
		for _, place := range []string{"cur", "new"} {
			if place == "new" && r.moves {
				break
			}
			err := os.Rename(filepath.Join(r.dir, place, string(id)), finished)
			if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return fmt.Errorf("%s: %s was never received", r.label, id)
}

func compare(receivers []*receiver, warm, rounds int) ([]measure.Result, error) {
	times := make([][]time.Duration, len(receivers))
	order := rand.New(rand.NewPCG(1, 2))
	for round := range warm + rounds {
		for _, i := range order.Perm(len(receivers)) {
			took, err := receivers[i].once()
			if err != nil {
				return nil, err
			}
			if round >= warm {
				times[i] = append(times[i], took)
			}
		}
	}
	results := make([]measure.Result, len(receivers))
	for i, r := range receivers {
		results[i] = measure.Compare(r.label, times[i], times[0])
	}
	return results, nil
}

func report(w io.Writer, results []measure.Result, asJSON bool) error {
	enc := json.NewEncoder(w)
	for _, r := range results {
		var err error
		if asJSON {
			err = enc.Encode(struct {
				Row string `json:"row"`
				measure.Result
			}{"wake", r})
		} else {
			_, err = fmt.Fprintln(w, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
