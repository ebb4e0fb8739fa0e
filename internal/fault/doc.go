// Package fault tries a program against a failing file system: one run for
// each file-system call that the program makes and each thing that can go
// wrong there. The process is killed as it enters the call, or the call fails
// with ENOSPC, EIO or EACCES without being carried out.
//
// It is for tests alone. strace(1) does the injecting; its log, not the
// intention, decides which call was hit, and a run that hit another one is a
// failure. There is no list of exceptions: every call between the start of
// main and the exit is a point.
//
// The program has to be built with Build, which pins main to the first thread.
// A file-system call on another thread cannot be counted and is reported as a
// failure, and so is a program that takes another way to the same call from
// one run to the next. Standard input, output and error are regular files,
// because reads of a pipe come in as many parts as its writer pleases.
package fault
