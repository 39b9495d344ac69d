// Package collective merges values of many nodes: reductions, all-reductions, shuffles, broadcasts and gathers.
//
// Every member joins under the same name, and then calls the same operations in the same order:
//
//	c, err := collective.Join(ctx, node, name, 16)
//	sums, err := c.AllReduce(ctx, local, collective.SumFloat64)
//
// Values merge within a cluster before they leave it, so each merged byte leaves a cluster once. Whatever arrives first, they
// merge in the order of ranks, or of a tree of [Comm.SetLinks]: the result is the same on all members and in every run.
//
// If the links between the clusters differ in their rates, [Comm.SetLinks] makes long all-reductions faster.
//
// Gather and Reduce return when all members have called them, and Broadcast at the root when all have received the value.
//
// When a member is lost, all operations fail with an [ErrMember], and the remaining members join again. Nothing is
// retried inside an operation. A member that is stopped or starved for less than 45 s is not lost: the remaining ones wait.
//
// A [Comm] has one operation at a time. Rank, Size and Close may be called from any goroutine.
package collective
