// Package command is the frame of command-line programs: the environment of a process, its exit status
// and usage errors, interrupts, and output as text or JSON. The commands themselves are in other packages.
package command
