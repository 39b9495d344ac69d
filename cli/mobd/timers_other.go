//go:build !linux

package main

// allowLateTimers does nothing: only Linux has timer slack.
func allowLateTimers() {}
