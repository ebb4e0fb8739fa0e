package spool

import (
	"io"
	"os"
	"time"
)

// A System is what the spool takes from the machine it runs on. Tests set the
// fields; programs use NewSystem as it comes.
type System struct {
	Now  func() time.Time
	Rand io.Reader                // of random bytes, for ids and the names of temp files
	Host func() (Host, error)     // who this machine is; asked once a Spool
	Sync func(f *os.File) error   // fsync of a file or a directory
	Wait func(time.Duration)      // for a sync tool that is renaming; time.Sleep
	Env  func(name string) string // the environment

	ids *minter
}

// NewSystem is the machine as it is.
func NewSystem() *System {
	sys := &System{
		Now:  time.Now,
		Rand: kernelRandom{},
		Sync: (*os.File).Sync,
		Wait: time.Sleep,
		Env:  os.Getenv,
		ids:  new(minter),
	}
	sys.Host = func() (Host, error) { return hostOf(sys.Env) }
	return sys
}

// WithoutSync is sys, but that it never waits for the disk.
func (sys *System) WithoutSync() *System {
	lazy := *sys
	lazy.Sync = func(*os.File) error { return nil }
	return &lazy
}

// NewID mints an id. The error is that of the random source.
func (sys *System) NewID() (ID, error) { return sys.ids.mint(sys) }
