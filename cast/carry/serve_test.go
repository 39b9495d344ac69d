package carry

import (
	"net/netip"
	"testing"
)

func TestAddrs(t *testing.T) {
	t.Parallel()
	all := addrs(4001)
	if len(all) == 0 || len(all) > maxAddrs {
		t.Fatalf("addresses %v", all)
	}
	loopback := 0
	for _, a := range all {
		ap, err := netip.ParseAddrPort(a)
		if err != nil || ap.Port() != 4001 || ap.Addr().IsLinkLocalUnicast() {
			t.Errorf("address %s, %v", a, err)
		}
		if ap.Addr().IsLoopback() {
			loopback++
		}
	}
	if loopback != 0 && loopback != len(all) {
		t.Errorf("loopback is among %v", all)
	}
}
