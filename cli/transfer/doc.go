// Package transfer has the commands that start, stop and check transfers: seed, get, rm, verify and export. A command
// uses the daemon of its data directory, or runs a node itself.
package transfer
