#!/bin/sh
# run.sh [--json] [ROW…]: times the programs beside their yardsticks, in turn,
# on spools in a temporary directory that is removed at the end. Each figure is
# a whole process; each ratio is to the first line of its row, within one run.
#
#   send        a durable send, and the file-system calls of one in C
#   queue       a send with 10 queued, and one with many
#   batch       many from 32 goroutines in a bare loop, and through xfer-send --batch
#   list        the names of many in order, and the first page of them
#   lists       the first page of 10, and of many
#   take        the file-system calls of a take in C, and a take
#   takes       a take from a short queue, and from many
#   oldest      the least name of many, and a take from them
#   drain       many through a bare loop, take --all, and xfer-recv --drain
#   status      the names of many in order, and xfer-inbox status
#   board       lock, read, write, sync, rename a card of 100 KiB, and an append to it
#   wake        from a publish to a bare loop's line on a pipe, and to xfer-recv's
#   neighbours  those of a send in C, and other tools that put a document away
#   handlers    many through a shell's loop, through nq, and through xfer-recv
#   gc          with many finished: its plan against a walk, its sweep against unlinks
#
# ROUNDS (150), MANY (100000) and HANDOFFS (10000) say how much; TMPDIR where. How a
# figure grows is seen with MANY from 10 to 1000000. A filesystem in memory has
# no durable send: take one that is on a disk.
set -eu
cd "$(dirname "$0")/.."
: "${GO:=go}" "${ROUNDS:=150}" "${MANY:=100000}" "${HANDOFFS:=10000}"

json=
[ "${1:-}" != --json ] || { json=-json; shift; }
[ $# -gt 0 ] || set -- send batch queue list lists take takes oldest drain status board wake neighbours handlers gc
for row; do
	case $row in
	send | batch | queue | list | lists | take | takes | oldest | drain | status | board | wake | neighbours | handlers | gc) ;;
	*)
		echo "run.sh: no row \"$row\"" >&2
		exit 64
		;;
	esac
done

dir=$(mktemp -d "${TMPDIR:-/tmp}/xfer-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# As they are installed: the linker leaves a file in the page cache that takes
# longer to start than a copy of it.
make -s install DESTDIR="$dir" PREFIX= >&2
send=$dir/bin/xfer-send inbox=$dir/bin/xfer-inbox recv=$dir/bin/xfer-recv
CGO_ENABLED=0 "$GO" build -o "$dir/bin/" ./bench/pairs ./bench/fill ./bench/list ./bench/wake ./bench/bare ./bench/plan ./bench/loop ./bench/drain
for yardstick in floor floor_take; do
	gcc -O2 -o "$dir/bin/$yardstick" "bench/$yardstick.c"
done

# What the user has set is no part of what is measured.
unset XFER_SPOOL XFER_NAME XFER_HOST XFER_MAX_BYTES XFER_WORKER
body=$dir/body
{
	printf '# A yardstick\n\n'
	for line in 1 2 3 4 5 6 7 8; do
		echo "line $line of a document of the usual length, about a kilobyte when all is said and done,"
	done
} >"$body"

title() { [ -n "$json" ] || printf '\n%s\n' "$*"; }
pairs() { "$dir/bin/pairs" -row "$row" $json "$@"; }
spool() { # spool NAME QUEUED: one with a mailbox, "bob", that has so many queued
	"$inbox" --spool "$dir/$1" --as bob -q create >/dev/null
	"$dir/bin/fill" "$dir/$1" bob "$2" <"$body"
}
many() { # made once, and settled before anything is timed
	[ -d "$dir/many" ] || { spool many "$MANY"; sync; }
}

run_send() {
	spool floor 10; spool send 10
	title "send, against the file-system calls of one in C"
	pairs -n "$ROUNDS" -stdin "$body" -name "floor,xfer-send" -- "$dir/bin/floor" "$dir/floor" bob -- \
		"$send" --spool "$dir/send" --as bench -q -k notification bob
}

run_queue() {
	spool few 10; many
	title "send, with 10 queued and with $MANY"
	pairs -n "$ROUNDS" -stdin "$body" -name "10 queued,$MANY queued" -- \
		"$send" --spool "$dir/few" --as bench -q -k notification bob -- \
		"$send" --spool "$dir/many" --as bench -q -k notification bob
}

run_list() {
	many
	title "the first page of $MANY, against a sorted readdir"
	# Each round is some twenty times as long as one of the others.
	pairs -n $((ROUNDS / 5)) -warm 2 -name "readdir,xfer-inbox list" -- "$dir/bin/list" "$dir/many/peers/bob/new" -- \
		"$inbox" --spool "$dir/many" --as bob -q list --limit 100
}

run_take() {
	spool taken-floor $((ROUNDS + 20)); spool taken $((ROUNDS + 20))
	# The first take claims the mailbox: it is none of those that are timed.
	for fresh in taken-floor taken; do "$inbox" --spool "$dir/$fresh" --as bob -q take >/dev/null; done
	title "take, against the file-system calls of one in C"
	pairs -n "$ROUNDS" -name "floor of take,xfer-inbox take" -- "$dir/bin/floor_take" "$dir/taken-floor" bob -- \
		"$inbox" --spool "$dir/taken" --as bob -q take
}

run_lists() {
	spool ten 10; many
	title "the first page of 10, and of $MANY"
	pairs -n $((ROUNDS / 5)) -warm 2 -name "10 there,$MANY there" -- "$inbox" --spool "$dir/ten" --as bob -q list --limit 10 -- \
		"$inbox" --spool "$dir/many" --as bob -q list --limit 10
}

run_takes() {
	spool short $((ROUNDS + 20)); many
	for fresh in short many; do "$inbox" --spool "$dir/$fresh" --as bob -q take >/dev/null; done
	title "take, from a short queue and from $MANY"
	pairs -n $((ROUNDS / 5)) -warm 2 -name "$((ROUNDS + 20)) queued,$MANY queued" -- "$inbox" --spool "$dir/short" --as bob -q take -- \
		"$inbox" --spool "$dir/many" --as bob -q take
}

run_oldest() {
	many
	"$inbox" --spool "$dir/many" --as bob -q take >/dev/null
	title "a take from $MANY, against the least name of them"
	pairs -n $((ROUNDS / 5)) -warm 2 -name "least name,xfer-inbox take" -- "$dir/bin/loop" oldest "$dir/many/peers/bob/new" -- \
		"$inbox" --spool "$dir/many" --as bob -q take
}

run_drain() {
	spool drained "$MANY"; sync
	title "$MANY drained, against open, lock, read, hash, rename, and a sync for each 64"
	# shellcheck disable=SC2086 # a flag or nothing
	"$dir/bin/drain" -n $(((ROUNDS + 29) / 30)) $json "$dir/drained" "$dir/bin/loop" "$inbox" "$recv"
}

run_status() {
	many
	title "status of $MANY, all sent from here, against a sorted readdir of the mailbox"
	pairs -n $((ROUNDS / 5)) -warm 2 -name "readdir,xfer-inbox status" -- "$dir/bin/list" "$dir/many/peers/bob/new" -- \
		"$inbox" --spool "$dir/many" --as bob -q status
}

run_batch() {
	spool batch-floor 0; spool batched 0
	awk -v n="$HANDOFFS" -v body="$(sed 's/$/\\\\n/' "$body" | tr -d '\n')" 'BEGIN {
		for (i = 0; i < n; i++) print "{\"to\":\"bob\",\"kind\":\"notification\",\"body\":\"" body "\"}" }' >"$dir/jobs"
	{ "$inbox" --spool "$dir/ten-for-batch" --as bob -q create && "$dir/bin/fill" "$dir/ten-for-batch" bob 1 <"$body"; } >/dev/null
	cat "$dir/ten-for-batch/peers/bob/new/"* >"$dir/handoff"
	title "$HANDOFFS sent in a batch, against write, sync, link and rename by 32 goroutines"
	# shellcheck disable=SC2016 # for the shell that is timed
	pairs -n $(((ROUNDS + 29) / 30)) -warm 1 -stdin "$dir/handoff" -name "bare loop,xfer-send --batch" -- \
		"$dir/bin/loop" batch "$dir/batch-floor/peers/bob" "$HANDOFFS" -- \
		sh -c 'exec "$0" "$@" >/dev/null' "$send" --spool "$dir/batched" --as bench --batch -f "$dir/jobs"
}

run_board() {
	for card in bare appended; do
		"$dir/bin/xfer-board" --spool "$dir/boards" --as bench -q create --id "$card" "The $card card" >/dev/null
		yes 'a line of a usual length, about what one would say' | head -c 100000 |
			"$dir/bin/xfer-board" --spool "$dir/boards" --as bench -q append "$card" >/dev/null
	done
	title "an append to a card of 100 KiB, against the bare loop"
	printf '\n### 01kb9w6t3v8f5s7q2m4x0c1d9e · note · bench · 2026-11-30T06:33:33Z\n\none more\n' >"$dir/entry"
	pairs -n "$ROUNDS" -stdin "$dir/entry" -name "bare loop,xfer-board append" -- \
		"$dir/bin/loop" append "$dir/boards.lock" "$dir/boards/board/bare.md" -- \
		"$dir/bin/xfer-board" --spool "$dir/boards" --as bench -q append appended
}

run_wake() {
	for to in floor recv; do "$inbox" --spool "$dir/woken" --as "$to" -q create >/dev/null; done
	title "from a publish to a line on a pipe"
	# shellcheck disable=SC2086 # a flag or nothing
	"$dir/bin/wake" -n "$ROUNDS" $json "$dir/woken" "$dir/bin/bare" "$recv"
}

# A neighbour does less than a send where its line says so: the ratio is the
# price of the difference.
run_neighbours() {
	spool beside 10
	names=floor
	set -- -- "$dir/bin/floor" "$dir/beside" bob
	if command -v mdeliver >/dev/null; then
		mkdir -p "$dir/maildir/cur" "$dir/maildir/new" "$dir/maildir/tmp"
		names="$names,mdeliver (no directory sync)"
		set -- "$@" -- mdeliver "$dir/maildir"
	fi
	if command -v safecat >/dev/null; then
		mkdir -p "$dir/safecat/tmp" "$dir/safecat/new"
		names="$names,safecat (no directory sync)"
		set -- "$@" -- safecat "$dir/safecat/tmp" "$dir/safecat/new"
	fi
	if command -v nq >/dev/null; then
		export NQDIR="$dir/nq"
		mkdir -p "$NQDIR"
		names="$names,nq (no sync)"
		set -- "$@" -- nq -q true
	fi
	if command -v sqlite3 >/dev/null; then
		sqlite3 "$dir/queue.db" 'CREATE TABLE handoff (id TEXT PRIMARY KEY, sender TEXT, body BLOB)'
		names="$names,sqlite3 (journal; FULL)"
		set -- "$@" -- sqlite3 "$dir/queue.db" "PRAGMA synchronous = FULL;
			INSERT INTO handoff VALUES (lower(hex(randomblob(13))), 'bench', readfile('$body'))"
	fi
	spool neighbour 10
	names="$names,xfer-send"
	set -- "$@" -- "$send" --spool "$dir/neighbour" --as bench -q -k notification bob
	title "neighbours, against the file-system calls of a send in C"
	pairs -n "$ROUNDS" -stdin "$body" -name "$names" "$@"
}

# Once each: it is long enough. The shell and nq run true and remember nothing.
run_handlers() {
	spool looped "$HANDOFFS"; spool handled "$HANDOFFS"
	names="shell loop"
	# shellcheck disable=SC2016 # for the shell that is timed
	set -- -- sh -c 'cd "$0/new" && for f in *; do env true <"$f" && mv "$f" ../done/; done' "$dir/looped/peers/bob"
	if command -v nq >/dev/null; then
		export NQDIR="$dir/jobs"
		mkdir -p "$NQDIR"
		names="$names,nq"
		# shellcheck disable=SC2016
		set -- "$@" -- sh -c 'i=0; while [ $i -lt "$0" ]; do nq -q true; i=$((i + 1)); done; nq -w' "$HANDOFFS"
	fi
	title "$HANDOFFS documents, true run for each"
	# shellcheck disable=SC2016
	pairs -n 1 -warm 0 -name "$names,xfer-recv" "$@" -- sh -c 'exec "$0" "$@" --drain -- true' "$recv" --spool "$dir/handled" --as bob
}

# It takes no part in the rounds of the others: each of its own is long enough.
run_gc() {
	title "gc with $MANY finished: its plan against a walk with lstat, and what its sweep adds against reading and unlinking each"
	# shellcheck disable=SC2086 # a flag or nothing
	"$dir/bin/plan" -n "$MANY" $json "$dir/finished"
}

title "$ROUNDS rounds on $(stat -f -c %T "$dir"), $(getconf _NPROCESSORS_ONLN) processors: median (10th–90th percentile)"
for row; do "run_$row"; done
