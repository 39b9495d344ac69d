// Package install tests what people install: the deb and rpm packages and the container image,
// on its own machine with a running systemd, and nodes of this version beside nodes of the
// last. It has tests only.
package install
