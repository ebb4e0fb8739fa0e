// Package durable holds every system call whose order matters: creating,
// publishing without replacing, replacing, syncing directories, and locking.
//
// Three contracts:
//
// What is published (Publish) was written and synced before, and never takes
// the place of something: renameat2(RENAME_NOREPLACE), or link and unlink
// where the system lacks it.
//
// What is replaced (Replace) is written beside, synced and renamed over the
// old file, so that a reader sees the old or the new one, whole. A file that is
// replaced is never locked itself, since a lock goes with the inode.
//
// A file that was opened (OpenRegular) is the regular file that its name
// named: no link is followed, no FIFO or device is waited for.
//
// No function retries an fsync that was refused: after an error the kernel may
// have dropped the dirty pages and call the next fsync a success
// (fsync(2), "PostgreSQL's fsync() surprise", LWN 752063).
package durable
