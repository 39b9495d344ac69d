// Package demo has the command demo: a tracker, a source and clusters of nodes in one process, and a receipt of the
// transfer.
package demo
