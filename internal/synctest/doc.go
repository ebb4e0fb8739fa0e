// Package synctest runs the programs on two hosts whose spool real sync tools
// carry: Syncthing, rsync, a shared mount. Its tests have the build tag sync.
package synctest
