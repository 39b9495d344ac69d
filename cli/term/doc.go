// Package term prints progress and results for people: a [Screen] redraws a picture on a terminal and
// prints a line every few seconds elsewhere, and functions format sizes, rates and times.
//
// Names and texts may come from other nodes: a Screen and a [TextWriter] pass them through [Printable].
package term
