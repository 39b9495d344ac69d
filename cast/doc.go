// Package cast sends a file, a folder or a stream to a list of hosts, on which nothing
// needs to be installed: it logs in to each with a remote shell, brings the program, and
// runs a node there for as long as the cast lasts.
package cast
