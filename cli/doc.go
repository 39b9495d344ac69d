// Package cli has the commands of mob and mobd.
//
// Each command is a file, with its help text first. A command connects to the
// daemon of its data folder through the socket there (package control). Without
// a daemon, seed, get and rm run one themselves, with the same socket, so that
// other commands find it too.
//
// Results go to standard output. Progress, notes and logs go to standard error,
// and so does the one line, with the program's name in front, of a command that
// failed. The exit status is 0 for done, 1 for failed, 2 for wrong usage and 130
// for interrupted.
//
// The package moves no content: packages peer and tracker do.
package cli
