package tracker

import "math/rand/v2"

// spread is an order of 0 ... n-1 in which every beginning is spread over the
// whole, whatever its length: it strides around the circle by the golden ratio,
// from a random start. It takes no memory, so a handout may begin many and use
// little of each.
type spread struct{ n, start, stride int }

func newSpread(n int, rng *rand.Rand) spread {
	if n <= 1 {
		return spread{n: n, stride: 1}
	}
	const golden = 0.6180339887498949
	stride := max(int(float64(n)*golden), 1)
	// A stride without a common divisor visits all before it repeats one.
	for gcd(stride, n) != 1 {
		stride++
	}
	return spread{n: n, start: rng.IntN(n), stride: stride}
}

// at is the k-th of the order, 0 <= k < n.
func (s spread) at(k int) int { return (s.start + k*s.stride) % s.n }

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
