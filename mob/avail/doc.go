// Package avail counts the pieces that the peers of a node have and claim, and batches its own announcements.
//
// [Offers] are the announcements of one peer. [Counts] has, for each piece, the number of members of a group and
// the number of its siblings that have or claim it. [Pieces] are the pieces of the node. An [Outbox] has the
// announcements for one peer; [Batches] schedules them.
//
// The package decides nothing: its methods report changes. It does no input or output, and is not safe for
// concurrent use.
package avail
