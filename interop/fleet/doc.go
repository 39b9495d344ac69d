// Package fleet runs the built programs as a fleet on a grid of network
// namespaces: a tracker, a daemon on every node, a source, and gets; [Mixed] has stock
// BitTorrent clients in the same transfer. End-to-end tests and the benchmarks share it, so that a figure is measured in the way in
// which the programs are tested.
package fleet
