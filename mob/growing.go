package mob

// growing is the [Picker] for plain pieces that are made while the node fetches: the parts of a
// stream. A piece is wanted from its event [Grown] on, and earlier pieces come first. Pieces that a
// single member of the cluster has come before those, see localKey.
type growing struct{ pieces }

const (
	// together is the number of pieces that are picked before later ones, see [Layout].
	together = 64
	// current is the number of pieces that are of interest at a time, see [Layout]: about what waits at
	// the source of a fast stream.
	current = 2048
)

// newGrowing returns the picker of up to length bytes, in pieces of at most size bytes.
func newGrowing(length int64, size int) *growing {
	k := &growing{*newPieces(length, size, together)}
	k.lead = 0
	k.layout.Short = map[int]int{}
	k.layout.Current = min(current, k.layout.Count)
	return k
}

// Attach implements [Picker]. The cluster never gets near the end: links are not left idle there.
func (k *growing) Attach(c *Control) {
	k.Control = c
	for _, l := range c.Levels {
		l.Inflow.Missing += 2 * k.layout.Count
	}
}

// Apply implements [Picker].
func (k *growing) Apply(ev Event) {
	grown, ok := ev.(Grown)
	if !ok {
		k.pieces.Apply(ev)
		return
	}
	for n, size := range grown.Sizes {
		i := grown.First + n
		if k.Open(i) && size < k.layout.SizeOf(i) {
			k.layout.Short[i] = size
		}
	}
}
