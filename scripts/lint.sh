#!/bin/sh
# What `make lint` looks at. The linters are built from their pinned versions,
# so nothing but Go and shellcheck has to be installed.
set -eu
cd "$(dirname "$0")/.."
: "${GO:=go}"

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
golangci=github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

status=0
check() { # check NAME COMMAND...
	name=$1
	shift
	if "$@"; then echo "ok    $name"; else
		status=1
		echo "FAIL  $name"
	fi
}
formatted() {
	loose=$(find . -name '*.go' -exec gofmt -l {} +)
	[ -z "$loose" ] || { echo "$loose"; return 1; }
}
# The linters' own dependencies are no part of go.mod.
tool() { GOFLAGS=-mod=mod "$GO" run "$@"; }

check gofmt formatted
check vet "$GO" vet ./...
check tidy "$GO" mod tidy -diff
check staticcheck tool "$staticcheck" ./...
check golangci-lint tool "$golangci" run ./...
if command -v shellcheck >/dev/null 2>&1; then
	check shellcheck shellcheck scripts/*.sh bench/*.sh .ci/run
else
	check "shellcheck (not installed)" false
fi
exit "$status"
