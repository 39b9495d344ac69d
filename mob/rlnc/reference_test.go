package rlnc

// The reference works one byte at a time, with a multiplication that shares nothing with
// the library's tables.

// product multiplies polynomials over GF(2) modulo x^8 + x^4 + x^3 + x^2 + 1.
func product(a, b byte) (p byte) {
	for ; b != 0; b >>= 1 {
		if b&1 != 0 {
			p ^= a
		}
		carry := a&0x80 != 0
		if a <<= 1; carry {
			a ^= 0x1d
		}
	}
	return p
}

// reciprocal finds the factor that makes 1 of a.
func reciprocal(a byte) byte {
	for b := range 256 {
		if product(a, byte(b)) == 1 {
			return byte(b)
		}
	}
	panic("zero has no reciprocal")
}

// times has all products: the loops below are slow enough.
func times() *[256][256]byte {
	var t [256][256]byte
	for a := range t {
		for b := range t[a] {
			t[a][b] = product(byte(a), byte(b))
		}
	}
	return &t
}

// encode is the sum of blocks, as long as the longest.
func (t *reference) encode(blocks [][]byte, v []byte) []byte {
	n := 0
	for _, b := range blocks {
		n = max(n, len(b))
	}
	out := make([]byte, n)
	for i, b := range blocks {
		for j := range b {
			out[j] ^= t.times[v[i]][b[j]]
		}
	}
	return out
}

// decode eliminates rows of vector and payload until the left is the unit matrix. Rows that
// depend on others vanish; the rank is the number of those left.
func (t *reference) decode(vectors, payloads [][]byte) (blocks [][]byte, rank int) {
	if len(vectors) == 0 {
		return nil, 0
	}
	k := len(vectors[0])
	rows := make([][]byte, len(vectors))
	for i := range rows {
		rows[i] = append(append([]byte(nil), vectors[i]...), payloads[i]...)
	}
	for column := range k {
		pivot := rank
		for pivot < len(rows) && rows[pivot][column] == 0 {
			pivot++
		}
		if pivot == len(rows) {
			continue
		}
		rows[rank], rows[pivot] = rows[pivot], rows[rank]
		inverse := reciprocal(rows[rank][column])
		for j := range rows[rank] {
			rows[rank][j] = t.times[rows[rank][j]][inverse]
		}
		for i := range rows {
			if c := rows[i][column]; i != rank && c != 0 {
				for j := range rows[i] {
					rows[i][j] ^= t.times[c][rows[rank][j]]
				}
			}
		}
		rank++
	}
	if rank < k {
		return nil, rank
	}
	for _, row := range rows[:k] {
		blocks = append(blocks, row[k:])
	}
	return blocks, rank
}

type reference struct{ times *[256][256]byte }

func newReference() *reference { return &reference{times()} }
