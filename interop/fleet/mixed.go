package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/stock"
)

// Mixed is the programs with stock clients as guests, in one transfer: the source is
// a daemon, and so are the receivers but for some.
type Mixed struct {
	System
	// Percent of each cluster's receivers, the last of them, are stock clients.
	Percent float64
	// Clients take turns at them; one at least.
	Clients []*stock.Client
}

// Name implements bench.System: it is such as mob+aria2:50%.
func (m Mixed) Name() string {
	name := m.System.Name()
	for _, c := range m.Clients {
		name += "+" + c.Name()
	}
	return fmt.Sprintf("%s:%g%%", name, m.Percent)
}

// Missing implements bench.System.
func (m Mixed) Missing() error {
	errs := []error{m.System.Missing()}
	for _, c := range m.Clients {
		errs = append(errs, c.Installed())
	}
	return errors.Join(errs...)
}

// Prepare implements bench.System. The guests find the swarm by mob's tracker, and
// start when the fetching does, as someone starts a client who wants a content.
func (m Mixed) Prepare(ctx context.Context, site bench.Site) (bench.Transfer, error) {
	own := site
	var guests []*netns.Node
	own.Receivers, guests = m.split(site.Receivers)
	f := &Fleet{Grid: site.Grid, Bin: m.Bin, Dir: site.Dir, Guests: true}
	t, err := f.prepare(ctx, own)
	if err != nil {
		return nil, err
	}
	x := &mixture{Transfer: t, byNode: map[*netns.Node]*stock.Runner{}}
	for i, n := range guests {
		r, err := m.Clients[i%len(m.Clients)].Place(stock.Job{
			Node: n, Dir: filepath.Join(site.Dir, "stock"), Torrent: t.torrent(), Scheme: "http", Name: filepath.Base(site.Content),
		})
		if err != nil {
			_, closed := t.Close()
			return nil, errors.Join(err, closed)
		}
		x.guests = append(x.guests, r)
		x.byNode[n] = r
	}
	return x, nil
}

// split says which receivers are whose.
func (m Mixed) split(receivers []*netns.Node) (own, guests []*netns.Node) {
	left := map[string]int{} // of a cluster's receivers
	for _, n := range receivers {
		left[n.Cluster]++
	}
	theirs := map[string]int{}
	for cluster, n := range left {
		theirs[cluster] = int(math.Round(float64(n) * m.Percent / 100))
	}
	for _, n := range receivers {
		if left[n.Cluster] > theirs[n.Cluster] {
			own = append(own, n)
		} else {
			guests = append(guests, n)
		}
		left[n.Cluster]--
	}
	return own, guests
}

// mixture is a transfer with guests.
type mixture struct {
	*Transfer
	guests []*stock.Runner
	byNode map[*netns.Node]*stock.Runner
}

// Fetch implements bench.Transfer.
func (x *mixture) Fetch(ctx context.Context, whole func(n *netns.Node)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 2)
	go func() { ended <- x.Transfer.Fetch(ctx, whole) }()
	go func() { ended <- x.fetchGuests(ctx, whole) }()
	first := <-ended
	if first != nil {
		cancel()
	}
	return cmp.Or(first, <-ended)
}

func (x *mixture) fetchGuests(ctx context.Context, whole func(n *netns.Node)) error {
	for _, r := range x.guests {
		if err := r.Start(); err != nil {
			return err
		}
	}
	return stock.Await(ctx, x.guests, whole)
}

// Copy implements bench.Transfer.
func (x *mixture) Copy(n *netns.Node) string {
	if r := x.byNode[n]; r != nil {
		return r.Copy()
	}
	return x.Transfer.Copy(n)
}

// Kill implements bench.Transfer.
func (x *mixture) Kill(n *netns.Node) error {
	if r := x.byNode[n]; r != nil {
		_, err := r.Kill()
		return err
	}
	return x.Transfer.Kill(n)
}

// Close implements bench.Transfer. The most memory may be a client's.
func (x *mixture) Close() (bench.Usage, error) {
	sum, err := x.Transfer.Close()
	errs := []error{err}
	for _, r := range x.guests {
		used, err := r.Kill()
		errs = append(errs, err)
		sum.CPU += used.CPU
		sum.Peak = max(sum.Peak, used.Peak)
	}
	return sum, errors.Join(errs...)
}
