// Package status has the commands that show the state of nodes and swarms: status, ls, limit, topology and inspect.
package status
