#!/bin/sh
# The main job on a spool that is made for it and removed at the end: a task goes
# from alice to bob, and its conclusion comes back. Your own spool is not touched.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/bin:$PATH
dir=$(mktemp -d)
awaiting=
receiving=
tidy() {
	[ -z "$receiving" ] || kill "$receiving" 2>/dev/null || true
	if [ -n "$awaiting" ]; then
		kill "$awaiting" 2>/dev/null || true
		cat "$dir/sent" >&2
	fi
	rm -rf "$dir"
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$dir"
export XFER_SPOOL="$dir/spool"
unset XFER_NAME XFER_HOST XFER_WORKER

told() { printf '\n# %s\n' "$1"; }
run() { # run LINE: shows it, then does what it says
	printf '$ %s\n' "$1"
	eval "$1"
}

told 'bob wants to be reached: he makes his mailbox'
run 'xfer-inbox create --as bob'

told 'alice sends him a task out of a pipeline and waits for its conclusion'
line="printf '# Review the parser\n\nLines 10 to 40, please.\n' | xfer-send --as alice -k task --await 60s bob"
printf '$ %s\n' "$line >answer &"
eval "$line" >answer 2>sent &
awaiting=$!

told 'bob sees it, takes it and does the work'
run 'xfer-inbox list --as bob --wait 30s'
run 'xfer-inbox take --as bob >task.md'
run 'cat task.md'

told 'he concludes it: once, and only once'
id=$(xfer-inbox list --as bob --state work | cut -f 1)
run "echo 'Line 17 leaks a file; the rest is sound.' | xfer-inbox conclude --as bob $id done"

told 'that was what alice was waiting for'
wait "$awaiting"
awaiting=
cat sent
run 'cat answer'
run "xfer-inbox status --as alice $id"

told 'what is on disk: one plain file for each handoff'
# shellcheck disable=SC2016 # to be read, and expanded by eval
run '(cd "$XFER_SPOOL" && find . -type f | sort)'

told 'a command can do it: xfer-recv runs it for each task, and concludes as it exits'
run 'xfer-inbox create --as sorter'
printf '$ %s\n' 'xfer-recv --as sorter --conclude -- sort &'
xfer-recv --as sorter --conclude -- sort &
receiving=$!
run "printf 'pear\napple\nfig\n' | xfer-send --as alice -k task --await 60s sorter"
kill "$receiving"
wait "$receiving" 2>/dev/null || true # of the signal
receiving=
