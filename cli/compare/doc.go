// Package compare has the commands of `mob bench`: they make a case of what is asked
// for, have package bench measure systems on it, or run it in the simulator, and print
// what came of it.
package compare
