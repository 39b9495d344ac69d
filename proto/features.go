package proto

// The feature bits of a [Hello].
const (
	// featureCoded: the sender is in a coded transfer and numbers blocks instead of
	// pieces. The eight bits from featureKShift hold k.
	featureCoded  = 1 << 0
	featureKShift = 8
	// featureGossip: the sender is in a transfer by permutation gossip. k is as above;
	// the four bits from featureStrategyShift hold the [Strategy].
	featureGossip        = 1 << 1
	featureStrategyShift = 16
	// 1 << 2 is reserved: it was in use.

	// FeatureDemand: the sender understands [Demand].
	FeatureDemand = 1 << 3
	// FeatureHosts: the sender follows a plan, and understands [Hosts].
	FeatureHosts = 1 << 4
)

// Features returns the feature bits of a [Hello] in a transfer with this coding.
func (c Coding) Features() uint64 {
	switch {
	case !c.Coded():
		return 0
	case c.Strategy.Gossip():
		return featureGossip | uint64(c.K)<<featureKShift | uint64(c.Strategy)<<featureStrategyShift
	}
	return featureCoded | uint64(c.K)<<featureKShift
}

// CodingOf returns the coding of a peer whose [Hello] has these features, without the length
// of its blocks.
func CodingOf(features uint64) Coding {
	if features&(featureCoded|featureGossip) == 0 {
		return Coding{}
	}
	c := Coding{K: int(features >> featureKShift & 0xff)}
	if features&featureGossip != 0 {
		c.Strategy = Strategy(features >> featureStrategyShift & 0xf)
	}
	return c
}

// Agrees reports whether a peer whose [Hello] has these features uses the same coding.
func (c Coding) Agrees(features uint64) bool {
	if features&(featureCoded|featureGossip) == 0 {
		return !c.Coded()
	}
	const known = featureCoded | featureGossip | 0xff<<featureKShift | 0xf<<featureStrategyShift
	return features&known == c.Features()
}
