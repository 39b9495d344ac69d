// Package cast has tests of mob cast on hosts of a grid, with a server of ssh on each.
package cast
