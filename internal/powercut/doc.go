// Package powercut holds one test: that no id that was printed is lost when the
// power fails. It shuts a filesystem down under load, which drops whatever was
// not synced, mounts it again and looks.
//
// It needs root, loop devices, and the tools of ext4 and xfs; without them it
// fails and names them. It is built with the tag powercut alone.
package powercut
