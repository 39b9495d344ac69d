// Package cli is what people touch: the commands of mob and mobd.
//
// Each command is a file, its help text first. A command finds the daemon of its
// data folder through the socket there (package control) and asks it; seed, get
// and rm run one themselves when there is none, and then ask that through the
// same socket, so that other commands find it too.
//
// What was asked for goes to standard output, everything else to standard error:
// progress, notes, logs, and one line that begins with the program's name when
// it failed. exit.go has the table of exit statuses.
//
// The package holds no logic of transfers: packages peer and tracker do.
package cli
