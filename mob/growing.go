package mob

// growing is the [Picker] for plain pieces that come into being while the content is fetched: the parts
// of a stream. A piece is wanted from the event [Grown] on that names it, whatever peers have announced
// before, and earlier pieces come first. Only what a single member of the cluster has comes before those,
// see localKey.
type growing struct{ pieces }

const (
	// together is how many pieces are picked before later ones, see [Layout].
	together = 64
	// current is the number of pieces that are of interest at a time, see [Layout]: about what waits at
	// the source of a fast stream.
	current = 2048
)

// newGrowing is the picker of a content that grows up to length bytes, in pieces of size bytes or less.
func newGrowing(length int64, size int) *growing {
	k := &growing{*newPieces(length, size)}
	k.layout.Together = together
	k.layout.Short = map[int]int{}
	k.layout.Current = min(current, k.layout.Count)
	return k
}

// Attach implements [Picker]. The cluster never gets near the end: links are not left idle there.
func (k *growing) Attach(c *Control) {
	k.Control = c
	for _, v := range c.Levels() {
		c.Lack(v, 2*k.layout.Count)
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
		if k.Open(i) && size < k.layout.size(i) {
			k.layout.Short[i] = size
		}
	}
}
