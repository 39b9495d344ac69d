// Package operations compares collective operations on a grid: package collective of mob, a plain TCP program in which all members
// send to the root, and MPI. Each is a set of processes that read operations and print the time of each repeat.
package operations
