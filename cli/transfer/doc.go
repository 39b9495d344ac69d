// Package transfer has the commands that change what a node stores: seed, get, rm, verify, export and sbcast. A command
// uses the daemon of its data directory, or runs a node itself.
package transfer
