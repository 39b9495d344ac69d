package netns

import (
	"cmp"
	"slices"
)

// LinkBytes is how many bytes have arrived over each WAN link, each direction for itself, since the grid was made, sorted by From
// and To. Those To one cluster add up to its WANBytes. It takes well under a millisecond per cluster, so it may be called ten
// times a second to draw a curve; gateways are read one after the other.
func (g *Grid) LinkBytes() ([]LinkBytes, error) {
	var all []LinkBytes
	for _, gw := range g.gateways {
		_, links, err := g.counters(gw.Name)
		if err != nil {
			return nil, err
		}
		for from, index := range gw.wan {
			all = append(all, LinkBytes{From: from, To: gw.Name, Count: received(links, index)})
		}
	}
	slices.SortFunc(all, func(x, y LinkBytes) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
	})
	return all, nil
}
