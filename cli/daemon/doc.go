// Package daemon runs a node with its control socket: as the command mobd, or within a command that finds no daemon
// (see [DialOrRun]). It has the flags and the configuration file of a node, what SIGHUP reloads, health and
// systemd notifications, and the page of a node.
package daemon
