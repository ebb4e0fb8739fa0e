#!/usr/bin/env bash
# gotest.sh [go test's flags and packages]: runs go test, shows a test's output
# only where it failed, and each package's closing line. With CI=true a skipped
# test is a failure.
set -u -o pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Signals that whoever runs this has ignored, as nohup(1) does and a shell for
# its background jobs, are ignored by what is tested too.
#
# With -race a process sleeps for a second at its exit; tests start many.
#
# Test output is kept until its test ends. What is left when a package ends
# belongs to tests that a crash or a timeout cut off.
# shellcheck disable=SC2016 # jq's variables
env --default-signal=INT,HUP GORACE=atexit_sleep_ms=0 "${GO:-go}" test -json "$@" 2>&1 | jq --unbuffered -Rnrj '
	foreach (inputs | . as $line | fromjson? // {Action: "text", Output: ($line + "\n")}) as $e ({held: {}};
		($e.Package // "") as $p | ($e.Test // "") as $t | .say = "" |
		if $e.Action == "output" and $t != "" then .held[$p][$t] += [$e.Output]
		elif ($e.Action | IN("output", "build-output", "text")) then
			if $e.Output == "PASS\n" then . else .say = $e.Output end
		elif $t == "" and $e.Action == "fail" then
			.say = ([.held[$p] // {} | .[][]] | join("")) | .held[$p] = {}
		elif $e.Action == "fail" then
			.say = (.held[$p][$t] // [] | join("")) | del(.held[$p][$t])
		elif $e.Action == "skip" and $t != "" then
			.say = "--- SKIP: \($p) \($t)\n" + (.held[$p][$t] // [] | join("")) | del(.held[$p][$t])
		elif $e.Action == "pass" then del(.held[$p][$t])
		else . end;
		.say)' | tee "$log"
status=$?
if [ "${CI:-}" = true ] && grep -q '^--- SKIP' "$log"; then
	echo "FAIL: a test was skipped" >&2
	[ "$status" -ne 0 ] || status=1
fi
exit "$status"
