// Package transfer has the commands that start, stop and check transfers: seed, get, rm, verify, export and feed. A
// command uses the daemon of its data directory. Without one, all but export run a node themselves.
package transfer
