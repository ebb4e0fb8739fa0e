#!/bin/sh
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
if [ -z "${TMPDIR:-}" ] && roomy /dev/shm; then
	TMPDIR=$(mktemp -d /dev/shm/xfer-test.XXXXXX)
	export TMPDIR
	chmod 711 "$TMPDIR" # other users of a shared spool go through it
	trap 'rm -rf "$TMPDIR"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
fi

status=0
summary=
suite() { # suite NAME COMMAND...
	name=$1
	shift
	echo "== $name"
	begin=$(date +%s)
	if "$@"; then verdict=ok; else
		verdict=FAIL
		status=1
	fi
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
	# shellcheck disable=SC2046 # a list of packages
	scripts/gotest.sh -race -shuffle=on -timeout 30m \
		$("$GO" list ./... | grep -Ev '^xfer/(testscript|internal/fault|internal/e2e|internal/command/process)(/|$)')
}
# Whole processes, some of them against a clock: one package at a time.
processes() {
	scripts/gotest.sh -race -shuffle=on -timeout 30m -p 1 ./internal/e2e ./internal/command/process
}
goldens() { # goldens VARIABLE=VALUE [flags]
	variable=$1
	shift
	env "$variable" scripts/gotest.sh -count=1 -timeout 20m "$@" ./testscript
}

suite 'source: gofmt, vet' vetted
suite 'units' units
suite 'processes' processes
suite 'golden scripts, umask 022' goldens XFER_TEST_UMASK=022 -race -shuffle=on
suite 'golden scripts, umask 002' goldens XFER_TEST_UMASK=002 -race -shuffle=on
suite 'golden scripts, no hard links' goldens XFER_TEST_DENY=linkat
suite 'golden scripts, no renameat2' goldens XFER_TEST_DENY=renameat2
suite 'faults' scripts/gotest.sh -count=1 -timeout 30m ./internal/fault/...
# Mounting is root's.
[ "$(id -u)" -ne 0 ] || suite 'power cuts' scripts/gotest.sh -count=1 -tags powercut ./internal/powercut
suite 'across machines' scripts/test-sync.sh

printf '\n%s' "$summary"
exit "$status"
