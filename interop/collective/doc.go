// Package collective tests package collective on a grid of clusters: the times of its operations, and the bytes that enter each
// cluster. It has tests only.
package collective
