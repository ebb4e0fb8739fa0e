package durable

import (
	"context"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// QueueFile is LockFile, exclusive, for a lock that many want at once: whoever
// does not get it at once stands in the kernel's queue, where a lock that is
// freed is handed on without a pause. Once the time is up the place in the queue
// is given back as soon as it comes to the front.
func (d *FS) QueueFile(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	f, err := d.openLock(path)
	if err != nil {
		return nil, err
	}
	free := func() { _ = f.Close() }
	ok, err := TryLock(f)
	if ok {
		return free, nil
	}
	if err != nil {
		free()
		return nil, err
	}
	had := make(chan error, 1)
	go func() { had <- flockFD(f, unix.LOCK_EX) }()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case err = <-had:
		if err != nil {
			free()
			return nil, err
		}
		return free, nil
	case <-timer.C:
		err = &os.PathError{Op: "lock", Path: path, Err: ErrHeld}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	// A wait in flock(2) cannot be called off.
	go func() {
		<-had
		free()
	}()
	return nil, err
}

// openLock opens the lock file at path, made where it is missing.
func (d *FS) openLock(path string) (*os.File, error) {
	const flags = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK
	f, err := openAt(path, flags, 0)
	for range 2 {
		if !os.IsNotExist(err) {
			break
		}
		if f, err = d.Create(path); os.IsExist(err) {
			f, err = openAt(path, flags, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "lock", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
