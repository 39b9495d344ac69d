// Package feed tests package feed on a grid of clusters: the time from a post until all followers have the version, and the
// bytes that enter each cluster. It has tests only.
package feed
