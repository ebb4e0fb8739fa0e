#!/usr/bin/env bash
# two-syncthings.sh COMMAND DIR [ARGUMENT]: two Syncthings, A and B, that share
# one folder, DIR/A and DIR/B, over loopback and with nobody else.
#
#   start DIR        start both; returns once they are connected and idle
#   stop DIR [A|B]   end both, or one
#   forget DIR A|B   remove what a side, which is stopped, knows of its files, as
#                    one does after a backup was restored
#   pause DIR        cut the connection; `resume DIR` restores it
#   sync DIR         scan both, and return once neither needs anything
#   set DIR NAME VALUE   change an option of the folder on both sides
#   api DIR A|B METHOD PATH [curl's arguments]
#
# SYNCTHING is the program, XFER_SYNC_WAIT how many seconds each command waits.
set -euo pipefail
command=${1:?start, stop, forget, pause, resume, sync, set or api}
dir=$(mkdir -p "${2:?a directory}" && cd "$2" && pwd)
shift 2
program=${SYNCTHING:-syncthing}
deadline=$((SECONDS + ${XFER_SYNC_WAIT:-60}))

late() {
	[ "$SECONDS" -ge "$deadline" ] || return 1
	echo "two-syncthings: $1 in time" >&2
	exit 1
}
value() { cat "$dir/$1.$2"; } # value SIDE NAME
other() { if [ "$1" = A ]; then echo B; else echo A; fi; }
api() { # api SIDE METHOD PATH [curl's arguments]
	local side=$1 method=$2 path=$3
	shift 3
	curl -fsS --noproxy '*' --max-time 30 -X "$method" -H "X-API-Key: $(value "$side" key)" "$@" \
		"http://127.0.0.1:$(value "$side" gui)$path"
}
alive() { # alive SIDE: is the process we remember still that Syncthing?
	local pid
	pid=$(value "$1" pid 2>/dev/null) && [ -r "/proc/$pid/cmdline" ] &&
		tr '\0' ' ' <"/proc/$pid/cmdline" | grep -qF -- "--home=$dir/$1.home"
}
# Ports below the range from which the kernel gives ports to clients, and others
# for each process, so that two that start at once do not find the same ones free.
port=$((20000 + $$ * 4 % 12000))
free_port() {
	while port=$((port + 1)); ss -Hltn "sport = :$port" | grep -q .; do :; done
	echo "$port"
}

# identity makes a side's keys. What `generate` configures is never run: it
# would announce itself.
identity() {
	local side=$1
	mkdir -p "$dir/$side/.stfolder" "$dir/$side.home"
	STNODEFAULTFOLDER=1 STNOUPGRADE=1 "$program" generate --home="$dir/$side.home" >"$dir/$side.log" 2>&1
	grep -oE '[A-Z2-7]{7}(-[A-Z2-7]{7}){7}' "$dir/$side.home/config.xml" | sed -n 1p >"$dir/$side.id"
	od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$dir/$side.key"
	free_port >"$dir/$side.gui"
	free_port >"$dir/$side.bep"
}
configure() {
	local side=$1 peer
	peer=$(other "$1")
	cat >"$dir/$side.home/config.xml" <<XML
<configuration version="36">
  <folder id="spool" path="$dir/$side" type="sendreceive" rescanIntervalS="3600" fsWatcherEnabled="true" fsWatcherDelayS="1">
    <device id="$(value "$side" id)"></device>
    <device id="$(value "$peer" id)"></device>
    <minDiskFree unit="MB">1</minDiskFree>
    <maxConflicts>10</maxConflicts>
  </folder>
  <device id="$(value "$side" id)" name="$side"><address>dynamic</address></device>
  <device id="$(value "$peer" id)" name="$peer"><address>tcp://127.0.0.1:$(value "$peer" bep)</address></device>
  <gui enabled="true" tls="false">
    <address>127.0.0.1:$(value "$side" gui)</address>
    <apikey>$(value "$side" key)</apikey>
  </gui>
  <options>
    <listenAddress>tcp://127.0.0.1:$(value "$side" bep)</listenAddress>
    <globalAnnounceEnabled>false</globalAnnounceEnabled>
    <localAnnounceEnabled>false</localAnnounceEnabled>
    <relaysEnabled>false</relaysEnabled>
    <natEnabled>false</natEnabled>
    <stunKeepaliveStartS>0</stunKeepaliveStartS>
    <reconnectionIntervalS>2</reconnectionIntervalS>
    <startBrowser>false</startBrowser>
    <urAccepted>-1</urAccepted>
    <autoUpgradeIntervalH>0</autoUpgradeIntervalH>
    <crashReportingEnabled>false</crashReportingEnabled>
    <announceLANAddresses>false</announceLANAddresses>
  </options>
</configuration>
XML
}
launch() {
	local side=$1
	alive "$side" && return
	# STMONITORED: without a parent that would start it again once it is stopped.
	env STMONITORED=yes STNORESTART=1 STNOUPGRADE=1 STNODEFAULTFOLDER=1 HOME="$dir/$side.home" \
		setsid "$program" serve --no-browser --home="$dir/$side.home" >"$dir/$side.log" 2>&1 </dev/null &
	echo $! >"$dir/$side.pid"
}
connected() {
	local side
	for side in A B; do
		until api "$side" GET /rest/system/connections 2>/dev/null | jq -e 'any(.connections[]; .connected)' >/dev/null; do
			alive "$side" || { tail -5 "$dir/$side.log" >&2; exit 1; }
			late "$side was not connected" || sleep 0.2
		done
	done
}
# settled returns once each side has what the other has told it of.
settled() {
	local side quiet
	while :; do
		quiet=1
		for side in A B; do
			api "$side" GET '/rest/db/status?folder=spool' | jq -e '.state == "idle" and .needTotalItems == 0' >/dev/null || quiet=0
			api "$side" GET "/rest/db/completion?folder=spool&device=$(value "$(other "$side")" id)" |
				jq -e '.needItems == 0 and .needDeletes == 0' >/dev/null || quiet=0
		done
		[ $quiet = 0 ] || return 0
		late 'the sides did not settle' || sleep 0.1
	done
}
end() {
	local side=$1 pid
	if alive "$side"; then
		pid=$(value "$side" pid)
		kill "$pid"
		for _ in $(seq 100); do
			alive "$side" || break
			sleep 0.1
		done
		! alive "$side" || kill -KILL "$pid"
	fi
	rm -f "$dir/$side.pid"
}

case $command in
start)
	if [ ! -s "$dir/B.bep" ]; then
		identity A
		identity B
		configure A
		configure B
	fi
	launch A
	launch B
	connected
	settled
	;;
stop) for side in ${1:-A B}; do end "$side"; done ;;
forget) rm -rf "$dir/$1.home"/index* ;;
pause) api A POST "/rest/system/pause?device=$(value B id)" >/dev/null ;;
resume)
	api A POST "/rest/system/resume?device=$(value B id)" >/dev/null
	connected
	;;
sync)
	# A second round carries what the first has only just told of.
	for _ in 1 2; do
		api A POST '/rest/db/scan?folder=spool' >/dev/null
		api B POST '/rest/db/scan?folder=spool' >/dev/null
		settled
	done
	;;
set)
	for side in A B; do
		api "$side" PATCH /rest/config/folders/spool -d "{\"$1\": $2}" >/dev/null
	done
	settled
	;;
api) api "$@" ;;
*)
	echo "two-syncthings: no command $command" >&2
	exit 2
	;;
esac
