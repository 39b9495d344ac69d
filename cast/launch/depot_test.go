package launch

import (
	"context"
	"testing"
)

// TestDepotDoubles serves many hosts: in each round every server serves one, and the remote shell is used once.
func TestDepotDoubles(t *testing.T) {
	t.Parallel()
	const hosts = 100
	var d depot
	claims := make(chan *claim, hosts)
	for range hosts {
		go func() {
			if c, err := d.wait(t.Context(), false); err == nil {
				claims <- c
			}
		}()
	}
	first := <-claims
	if first.from != nil {
		t.Fatal("the first has a server")
	}
	d.add(new(server))
	d.end(first, true)
	for served, servers, rounds := 1, 1, 0; served < hosts; rounds++ {
		round := make([]*claim, min(servers, hosts-served))
		for i := range round {
			if round[i] = <-claims; round[i].from == nil {
				t.Fatal("the remote shell uploads it again")
			}
		}
		select {
		case <-claims:
			t.Fatal("a server serves two")
		default:
		}
		for _, c := range round {
			d.end(c, true)
		}
		for range round {
			d.add(new(server))
		}
		served, servers = served+len(round), servers+len(round)
		if rounds > 7 {
			t.Fatalf("%d of %d are served after %d rounds", served, hosts, rounds)
		}
	}
}

// granted reports whether a claim is granted immediately.
func granted(t *testing.T, d *depot, shell bool) *claim {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, err := d.wait(ctx, shell)
	if err != nil {
		return nil
	}
	return c
}

// TestDepotBlocked checks that the remote shell uploads to several hosts concurrently if neighbors do not reach each other.
func TestDepotBlocked(t *testing.T) {
	t.Parallel()
	d := new(depot)
	for range maxFailures {
		d.add(new(server))
		c := granted(t, d, false)
		if c == nil || c.from == nil {
			t.Fatal("no server")
		}
		d.end(c, false)
	}
	for i := range maxPuts {
		if c := granted(t, d, false); c == nil || c.from != nil {
			t.Fatalf("host %d waits", i)
		}
	}
	if granted(t, d, false) != nil {
		t.Error("all get it immediately")
	}
}

// TestDepotStalled checks a host that stalls during its download does not delay the other hosts.
func TestDepotStalled(t *testing.T) {
	t.Parallel()
	d := new(depot)
	first := granted(t, d, false)
	if granted(t, d, false) != nil {
		t.Fatal("two are uploaded it")
	}
	d.stalled(first)
	second := granted(t, d, false)
	if second == nil || second.from != nil {
		t.Fatal("the second waits for the first")
	}
	s := new(server)
	d.add(s)
	d.end(second, true)
	d.end(first, false)
	slow := granted(t, d, false)
	if slow == nil || slow.from != s || granted(t, d, false) != nil {
		t.Fatal("the server does not serve one")
	}
	d.stalled(slow)
	if c := granted(t, d, false); c == nil || c.from != s {
		t.Error("a server that serves a silent host does not serve other hosts")
	}
}

// TestDepotAvoids checks that a server whose download failed is not used again.
func TestDepotAvoids(t *testing.T) {
	t.Parallel()
	d, bad, good := new(depot), new(server), new(server)
	d.add(bad)
	c := granted(t, d, false)
	if c == nil || c.from != bad {
		t.Fatal("no server")
	}
	d.end(c, false)
	if c := granted(t, d, false); c == nil || c.from != nil {
		t.Error("without a server, the remote shell does not upload it")
	}
	d.add(good)
	if c := granted(t, d, false); c == nil || c.from != good {
		t.Error("the good server is not used")
	}
}
