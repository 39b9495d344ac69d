// Package bench compares systems that distribute a file from one node to many. For each
// [System] it builds the same grid of network namespaces, runs the system on it as its
// users do, and measures it in the same way. Systems are [Mob], which is this project's
// programs, and [BitTorrent] clients. A [Simulation] runs mob's
// decisions on the same cases in virtual time.
//
// The package's tests run the programs end to end on such grids, so that numbers are
// measured in the way in which the programs are tested. They need root; with -short they
// run one small grid.
package bench
