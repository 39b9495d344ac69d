// Package coded implements the picker of coded transfers.
//
// The content is cut into generations of k source blocks. Nodes request blocks that are linear
// combinations of the source blocks of a generation: any k of them that are linearly independent
// decode to the generation (Cooper, section 3). A generation has N > k named blocks. The first k
// are the source blocks. A node that has the generation makes the block of any name; a node that
// has a part of it forwards the blocks that it has.
//
// For the [mob.State] a number is a block: number i is name i%N of generation i/N. Claims, haves
// and steals work as for plain pieces, but a cluster needs any k names of a generation. So a share
// is a count, and clusters that fetch from one source concurrently receive different blocks, of use
// to each other, before they receive each other's claims.
//
//	wanted -> in flight -> stored      -> decoded with the last one needed
//	                    -> useless       it is a combination of stored blocks
//	                    -> lost          it was corrupt: the generation is repaired from source blocks
package coded
