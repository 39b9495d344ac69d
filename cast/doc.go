// Package cast sends a file, a directory or a stream to a list of hosts on which nothing needs to be installed: it logs in to each
// with a remote shell, uploads the program, and runs a node there until the cast ends. A gather copies a file or a directory from each
// host in the same way.
package cast
