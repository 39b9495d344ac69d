// Package flow bounds the bytes in flight from each peer of a node, and measures rates, round trips and
// queues.
//
// A [Pipe] has the requests of one peer and says whether there is room for another, and of what size. The
// pipes of the peers at the other end of a link share a [Window]. A [Progress] records which bytes of a
// piece were requested and which arrived. None of them does any input or output, or is safe for concurrent
// use.
package flow
