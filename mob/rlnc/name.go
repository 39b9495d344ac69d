package rlnc

// Named writes to v, which has one for each source block, the coefficients of the block
// with a name: those below len(v) are the source blocks themselves, and others follow
// from the name as from the seed of [Coefficients].
func Named(v []byte, name int) {
	if name < len(v) {
		clear(v)
		v[name] = 1
		return
	}
	expand(uint64(name), v)
}
