package proto

import "fmt"

// ScrapeRequest asks a tracker for the progress of a swarm, like a BitTorrent scrape. The
// tracker answers with [Scrape].
type ScrapeRequest struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
}

func (m *ScrapeRequest) check() error { return checkKey(m.Swarm) }

// Scrape answers a [ScrapeRequest].
type Scrape struct {
	_        struct{}        `cbor:",toarray"`
	Clusters []ScrapeCluster `json:"clusters"`
}

// ScrapeCluster is the progress of one cluster.
type ScrapeCluster struct {
	_     struct{} `cbor:",toarray"`
	Name  string   `json:"name"`
	Nodes uint32   `json:"nodes"`
	// Whole is the number of nodes that have every piece.
	Whole uint32 `json:"whole"`
	// Missing is the number of missing pieces, summed over all nodes.
	Missing uint64 `json:"missing"`
}

func (m *Scrape) check() error {
	return checkEach("clusters", m.Clusters, MaxClusters, ScrapeCluster.check)
}

func (c ScrapeCluster) check() error {
	if c.Whole > c.Nodes {
		return fmt.Errorf("cluster %q: %d of %d nodes", c.Name, c.Whole, c.Nodes)
	}
	return CheckCluster(c.Name)
}
