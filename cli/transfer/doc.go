// Package transfer has the commands that start, stop and check transfers: seed, get, rm, verify, export and sbcast. A command
// uses the daemon of its data directory, or runs a node itself.
package transfer
