package rlnc

import (
	"errors"

	"github.com/klauspost/reedsolomon"
)

// invert returns the inverse of a square matrix, by Gauss-Jordan elimination. It fails for
// a matrix that has none.
func invert(m [][]byte) ([][]byte, error) {
	k := len(m)
	var field reedsolomon.LowLevel
	rows := make([][]byte, k) // the matrix on the left, on the right what began as 1
	for i, room := 0, make([]byte, 2*k*k); i < k; i++ {
		rows[i] = room[2*k*i : 2*k*(i+1) : 2*k*(i+1)]
		copy(rows[i], m[i])
		rows[i][k+i] = 1
	}
	for column := range k {
		pivot := column
		for pivot < k && rows[pivot][column] == 0 {
			pivot++
		}
		if pivot == k {
			return nil, errors.New("a singular matrix")
		}
		rows[column], rows[pivot] = rows[pivot], rows[column]
		scaled := rows[column][column:]
		field.GalMulSlice(reedsolomon.Inv(scaled[0]), scaled, scaled)
		for i, row := range rows {
			if c := row[column]; i != column && c != 0 {
				field.GalMulSliceXor(c, scaled, row[column:])
			}
		}
	}
	for i := range rows {
		rows[i] = rows[i][k:]
	}
	return rows, nil
}
