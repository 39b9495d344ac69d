package swarm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// silentHost gets no answer from any peer but one.
type silentHost struct {
	host.Host
	answers libpeer.ID
}

func (silentHost) Network() network.Network { return nil }

func (silentHost) ConnManager() connmgr.ConnManager { return keepsConns{} }

func (h silentHost) Connect(ctx context.Context, to libpeer.AddrInfo) error {
	if to.ID == h.answers {
		return errors.New("connection refused")
	}
	<-ctx.Done()
	return ctx.Err()
}

type keepsConns struct{ connmgr.NullConnMgr }

func (keepsConns) IsProtected(libpeer.ID, string) bool { return true }

// TestSilentMembersDoNotDelayDials dials as many members as a swarm may dial at a time, which do not answer, and another one.
func TestSilentMembersDoNotDelayDials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor()
		ctx, cancel := context.WithCancel(t.Context())
		d.ctx, d.log, d.inbox, d.dials = ctx, slog.New(slog.DiscardHandler), make(chan func(), maxDials), make(chan struct{}, maxDials)
		d.cfg.Host = silentHost{answers: "answers"}
		start := time.Now()
		for i := range maxDials {
			d.dial(proto.PeerID(fmt.Sprint(i)), time.Time{})
		}
		synctest.Wait()
		d.dial("answers", time.Time{})
		<-d.inbox
		if took := time.Since(start); took != slowDial {
			t.Errorf("the other member is dialed after %v, want %v", took, slowDial)
		}
		cancel()
		d.wg.Wait()
	})
}
