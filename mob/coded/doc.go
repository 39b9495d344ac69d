// Package coded is the picker of coded transfers.
//
// The content is cut into generations of k source blocks. What nodes request of each other are
// blocks that stand for linear combinations of the source blocks of a generation: any k of them
// that are linearly independent give the generation back (Cooper, section 3). A generation has
// names for N blocks, N > k. The first k are the source blocks themselves. A node that has the
// generation makes the block of any name; a node that has a part of it passes on the blocks that
// it has.
//
// To the [mob.State] a number is a block: number i is name i%N of generation i/N. Claims, haves
// and steals are those of plain pieces, but it does not matter which names of a generation a
// cluster fetches, as long as they are k. So a share is a count, and clusters that fetch from
// one source at the same time get different blocks, of use to each other, before they hear of
// each other's claims.
//
//	wanted -> on its way -> stored      -> decoded with the last that is needed
//	                     -> useless       it follows from what is stored
//	                     -> lost          it was false: generation is repaired from source blocks
package coded
