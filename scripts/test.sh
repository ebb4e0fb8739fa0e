#!/usr/bin/env bash
# What `make test` runs: every suite, one after another, each with its time. A
# suite that fails does not keep the others from running.
set -eu
cd "$(dirname "$0")/.."
: "${GO:=go}"
export GO
scripts/test-deps.sh

# Whoever runs this has a spool and a name of their own.
unset XFER_SPOOL XFER_NAME XFER_HOST XFER_WORKER XFER_MAX_BYTES XDG_DATA_HOME XDG_STATE_HOME
umask 022

# What is tested is the order of system calls, which strace and the kernel
# show on any filesystem: on one in memory, thousands of syncs cost nothing.
# It has to have the room for them, and the inodes.
roomy() { # roomy DIRECTORY
	[ -w "$1" ] &&
		df --output=avail "$1" | awk 'NR == 2 && $1 >= 4000000 { ok = 1 } END { exit !ok }' &&
		df --output=iavail "$1" | awk 'NR == 2 && $1 >= 1000000 { ok = 1 } END { exit !ok }'
}
if [ -z "${TMPDIR:-}" ] && roomy /dev/shm; then TMPDIR=/dev/shm; fi
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/xfer-test.XXXXXX")
export TMPDIR
chmod 711 "$TMPDIR" # other users of a shared spool go through it

# What is cut off may leave Syncthings, which are in sessions of their own, and
# mounts.
clean() {
	find "$TMPDIR" -name '[AB].pid' -exec sh -c 'kill -KILL "$(cat "$1")"' sh {} \; 2>/dev/null || :
	awk -v below="$TMPDIR/" 'index($2, below) == 1 { print $2 }' /proc/self/mounts |
		while read -r mounted; do
			fusermount3 -uz "$mounted" 2>/dev/null || umount -l "$mounted" 2>/dev/null || :
		done
	# Whoever has been told to end may still write.
	for _ in 1 2 3 4 5; do
		rm -rf "$TMPDIR" 2>/dev/null && return
		sleep 1
	done
}
trap clean EXIT

# Each suite is a process group of its own, which a signal ends as a whole.
set -m
job=
cut() { # cut STATUS
	trap '' INT TERM HUP
	[ -z "$job" ] || kill -TERM -- "-$job" 2>/dev/null || :
	[ -z "$job" ] || wait "$job" || :
	exit "$1"
}
trap 'cut 129' HUP
trap 'cut 130' INT
trap 'cut 143' TERM

status=0
summary=
suite() { # suite NAME COMMAND...
	name=$1
	shift
	echo "== $name"
	begin=$(date +%s)
	"$@" &
	job=$!
	if wait "$job"; then verdict=ok; else
		verdict=FAIL
		status=1
	fi
	job=
	line=$(printf '%-4s %4d s  %s' "$verdict" $(($(date +%s) - begin)) "$name")
	echo "== $line"
	summary="$summary$line
"
}

vetted() {
	loose=$(find . -name '*.go' -exec gofmt -l {} +)
	[ -z "$loose" ] || { echo "gofmt: $loose"; return 1; }
	"$GO" vet ./...
}
units() {
	# The longest goes first.
	# shellcheck disable=SC2046 # a list of packages
	scripts/gotest.sh -race -shuffle=on -timeout 30m ./spool \
		$("$GO" list ./... | grep -Ev '^xfer/(testscript|internal/fault|internal/e2e|internal/command/process|internal/simulation)(/|$)')
}
# The race detector asks for memory of its own.
allocations() {
	scripts/gotest.sh -run '^TestAllocations$' ./spool ./spool/board
}
# A schedule is one goroutine: the race detector has nothing to find there.
schedules() {
	scripts/gotest.sh -shuffle=on -timeout 30m ./internal/simulation
}
# Whole processes, built as they are shipped, some of them against a clock: one
# package at a time.
processes() {
	scripts/gotest.sh -shuffle=on -timeout 30m -p 1 ./internal/e2e ./internal/command/process
}
goldens() { # goldens VARIABLE=VALUE [flags]
	variable=$1
	shift
	env "$variable" scripts/gotest.sh -count=1 -timeout 20m "$@" ./testscript
}

# strace keeps the processors busy; who tests Syncthing waits for it.
faults() {
	scripts/test-sync.sh &
	across=$!
	scripts/gotest.sh -count=1 -timeout 30m ./internal/fault/... || { wait "$across"; return 1; }
	wait "$across"
}

suite 'source: gofmt, vet' vetted
suite 'units' units
suite 'allocations' allocations
suite 'simulation' schedules
suite 'processes' processes
suite 'golden scripts, umask 022' goldens XFER_TEST_UMASK=022 -race -shuffle=on
suite 'golden scripts, umask 002' goldens XFER_TEST_UMASK=002 -race -shuffle=on
suite 'golden scripts, no hard links' goldens XFER_TEST_DENY=linkat
suite 'golden scripts, no renameat2' goldens XFER_TEST_DENY=renameat2
suite 'faults, and across machines' faults
# Mounting is root's.
[ "$(id -u)" -ne 0 ] || suite 'power cuts' scripts/gotest.sh -count=1 -tags powercut ./internal/powercut

printf '\n%s' "$summary"
exit "$status"
