#!/bin/sh
# Sees to it that the programs `make test` needs are there: installs the
# missing ones as root on a Debian, else names them and exits 1.
set -eu

missing=
need() { # need PROGRAM PACKAGE...
	command -v "$1" >/dev/null 2>&1 && return
	shift
	for package; do missing="$missing $package"; done
}

need strace strace
need jq jq
need mlist mblaze
need setpriv util-linux
need syncthing syncthing
need curl curl
need ss iproute2
need rsync rsync
need mandoc mandoc
need zsh zsh
need fish fish
need systemd-analyze systemd
need flock util-linux
need gcc gcc libc6-dev
if [ "$(id -u)" -eq 0 ]; then # for the power cuts
	need mkfs.ext4 e2fsprogs
	need mkfs.xfs xfsprogs
	need xfs_io xfsprogs
fi
need bindfs bindfs
need fusermount3 fuse3
# A gcc without the C library's headers builds neither -race nor bench/.
if command -v gcc >/dev/null 2>&1 &&
	! echo '#include <stdlib.h>' | gcc -fsyntax-only -x c - 2>/dev/null; then
	missing="$missing libc6-dev"
fi
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq </dev/null
	# shellcheck disable=SC2086 # a list of packages
	apt-get install -y -qq --no-install-recommends $missing </dev/null
	exit
fi
{
	echo "the tests need what these Debian packages hold:$missing"
	echo "hint: sudo apt-get install$missing"
} >&2
exit 1
