// Package bench compares systems that move a file from one node to many: it
// builds the same grid for each, runs it, and measures all of them alike. It knows
// no system itself: what is compared satisfies [System].
package bench
