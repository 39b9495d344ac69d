package plan

import "time"

// Rack is some hosts of a site. Sites are numbered from 0.
type Rack struct {
	Site int
	// Uplink is the rate between the rack and the switch of its site, in each direction, in bytes
	// per second. Zero: no limit, as for hosts that are on that switch themselves.
	Uplink float64
}

// BoundOfRacks is [Bound] where links between sites join their switches, and racks are behind
// uplinks. The source is in the first rack. carried is for the links between sites.
//
// Switches do not relay: content from another site enters a rack before it leaves for a third
// site. This lowers no bound, since the uplinks of a site carry as much out as in, and the content
// has to come in through each.
func BoundOfRacks(racks []Rack, bytes float64, carried Carried) time.Duration {
	if len(racks) < 2 {
		return 0
	}
	at := vertices(racks)
	return Bound(len(at), bytes, func(a, b int, until time.Duration) float64 {
		from, to := at[a], at[b]
		switch {
		case from.Uplink == 0 && to.Uplink == 0:
			return carried(from.Site, to.Site, until)
		case from.Site == to.Site && (from.Uplink == 0 || to.Uplink == 0):
			return (from.Uplink + to.Uplink) * until.Seconds()
		}
		return 0
	})
}

// vertices lists the racks that have a limit, and the switches of all sites, as racks without. The
// first is the source's.
func vertices(racks []Rack) []Rack {
	var all []Rack
	seen := map[int]bool{} // switches
	for _, r := range racks {
		if r.Uplink > 0 {
			all = append(all, r)
		}
		if !seen[r.Site] {
			seen[r.Site] = true
			all = append(all, Rack{Site: r.Site})
		}
	}
	return all
}
