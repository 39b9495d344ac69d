package sim

import (
	"slices"

	"github.com/mobgrid/mob/proto"
)

// rack reports whether a cluster is a rack: whether it is behind an uplink.
func (c *Cluster) rack() bool { return proto.ClusterParts(c.Name) > 1 }

// sites lists the names of the sites, and has for each cluster the index of its site.
func (c *Config) sites() (names []string, of []int) {
	for _, k := range c.Clusters {
		name := proto.ClusterGroup(k.Name, 1)
		i := slices.Index(names, name)
		if i < 0 {
			i = len(names)
			names = append(names, name)
		}
		of = append(of, i)
	}
	return names, of
}

// buildLinks makes the links between sites, and the uplinks.
func (s *sim) buildLinks() {
	for _, a := range s.sites {
		row := make([]*link, len(s.sites))
		for i, b := range s.sites {
			row[i] = &link{pipe: pipe{rate: s.cfg.Links[Link{a, b}]}}
		}
		s.links = append(s.links, row)
	}
	var rate Rate
	if s.cfg.Uplink > 0 {
		rate = constant(s.cfg.Uplink)
	}
	s.up, s.down = make([]*link, len(s.cfg.Clusters)), make([]*link, len(s.cfg.Clusters))
	for i := range s.cfg.Clusters {
		if s.cfg.Clusters[i].rack() {
			s.up[i], s.down[i] = &link{pipe: pipe{rate: rate}}, &link{pipe: pipe{rate: rate}}
		}
	}
	s.buildWays()
}

// buildWays lists the links between every two clusters.
func (s *sim) buildWays() {
	for i := range s.cfg.Clusters {
		row := make([][]*link, len(s.cfg.Clusters))
		for j := range s.cfg.Clusters {
			if i == j {
				continue
			}
			if s.up[i] != nil {
				row[j] = append(row[j], s.up[i])
			}
			if a, b := s.siteOf[i], s.siteOf[j]; a != b {
				row[j] = append(row[j], s.links[a][b])
			}
			if s.down[j] != nil {
				row[j] = append(row[j], s.down[j])
			}
		}
		s.ways = append(s.ways, row)
	}
}
