// Package feed publishes versions of a file or directory under one link.
//
// The publisher signs a [Head] for each version, and casts it to a group, in which the followers are: see package group. A
// head has a number, the link of the version, its manifest, and the content if that is short. It is the message that new members of the
// group receive, from any member, so the publisher may be off.
//
// A follower gets each version with an ordinary transfer. Most pieces need not be fetched: content of up to 512 KiB is cast
// with the head, the version before is on the disk, and a delta has what differs from it, if that is short: see package delta. A
// newer head ends the transfer of an older version, whose pieces are then used, too.
//
// Nothing that followers receive is trusted before it is checked: heads by their signature, content by the hashes of its manifest.
package feed
