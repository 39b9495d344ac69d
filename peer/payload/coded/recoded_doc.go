// Package recoded is the coded form of a content for permutation gossip: generations
// are gathered from combinations of their source blocks, and new combinations made of
// what has come, before they can be decoded. Coefficients come with each block.
//
// Blocks cannot be checked one by one, and nobody signs them: who recodes does not know
// what is in them. A generation that fails its hashes is thrown away, and nothing of it
// is stored or told of; who spoiled it is not found out.
//
// # Memory
//
// At most [RecodedLive] generations are gathered at a time, and [RecodedKept] whole ones are there for
// making blocks, each of k blocks of B bytes. A worker that decodes has one more.
package coded
