//go:build !race

package tracker

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestThousandNodesAnnounceTogether starts a thousand nodes behind one address, which announce themselves
// concurrently: all must be known in the end. Where handshakes take longer than a dial
// may, the test announces again, as a node does.
func TestThousandNodesAnnounceTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand hosts: not with -short")
	}
	s, info := start(t, Default(nil), new(clock))
	const nodes = 1000
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range nodes {
		h, c := node(t, ClientConfig{Timeout: time.Minute}, info)
		wg.Go(func() {
			<-begin
			for {
				_, err := c.Announce(t.Context(), announce(h, fmt.Sprint(i%20), 0))
				if err == nil {
					return
				}
				if t.Context().Err() != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Duration(i) * time.Millisecond)
			}
		})
	}
	close(begin)
	wg.Wait()
	if swarms, members := size(s); swarms != 1 || members != nodes {
		t.Errorf("%d members in %d swarms", members, swarms)
	}
}
