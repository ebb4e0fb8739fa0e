// Package simulation runs two hosts and a synchronizer over the real package
// spool, in random order and from a printed seed: what Syncthing and rsync do
// to a spool is modelled, what xfer does is not.
package simulation
