#!/bin/sh
# The tests over real sync tools: two Syncthings on loopback, rsync, a bind
# mount. SYNCTHING picks another Syncthing than the installed one.
set -eu
cd "$(dirname "$0")/.."
scripts/test-deps.sh
"${SYNCTHING:-syncthing}" --version
status=0
# These wait for the sync tools most of the time.
scripts/gotest.sh -count=1 -timeout 10m -parallel 4 -tags sync ./internal/synctest || status=1
scripts/gotest.sh -count=1 -timeout 10m -tags sync -run TestPartitions ./internal/simulation || status=1
exit "$status"
