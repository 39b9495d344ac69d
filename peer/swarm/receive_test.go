package swarm

import (
	"io"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// headerCodec reads headers of plain blocks.
type headerCodec struct{ payload.Codec }

func (headerCodec) ReadHeader(r io.Reader, h *payload.Header) (err error) {
	h.Span, err = proto.ReadBlockHeader(r, (*[proto.BlockHeader]byte)(h.Scratch[:]))
	return err
}

// pipe is a channel within a process.
type pipe struct{ net.Conn }

func (p pipe) Reset() error { return p.Close() }

// receives has a session receive a channel. It returns the other end, and the error with which the channel ends.
func receives(c *nodePeer) (peer net.Conn, ended <-chan error) {
	here, there := net.Pipe()
	out := make(chan error, 1)
	go func() { out <- c.receive(&transport.Reader{Reader: pipe{here}}) }()
	return there, out
}

func newReceiver() *nodePeer {
	return &nodePeer{session: &session{swarm: &Swarm{base: &base{codec: headerCodec{}}}, pending: payload.NewPending()}}
}

// TestUnrequestedBlockTakesNoBuffer checks that the header of a block that was not requested, or was canceled, does not
// have the node take a buffer for its payload, and that its channel ends after blockTimeout.
func TestUnrequestedBlockTakesNoBuffer(t *testing.T) {
	const channels = 100
	synctest.Test(t, func(t *testing.T) {
		c := newReceiver()
		canceled := proto.Span{Piece: 1, Length: proto.MaxBlock}
		c.pending.Add(canceled, false)
		c.pending.Cancel(canceled)
		var before, after runtime.MemStats
		var peers []net.Conn
		var ends []<-chan error
		runtime.ReadMemStats(&before)
		for i := range channels {
			peer, ended := receives(c)
			peers, ends = append(peers, peer), append(ends, ended)
			if _, err := peer.Write(proto.AppendBlockHeader(nil, uint32(i), 0, proto.MaxBlock)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) / channels; n > proto.MaxBlock/8 {
			t.Errorf("%d bytes for each header", n)
		}
		time.Sleep(blockTimeout - time.Second)
		for i := range peers {
			select {
			case err := <-ends[i]:
				t.Fatalf("channel %d ended early: %v", i, err)
			default:
			}
		}
		time.Sleep(2 * time.Second)
		for i := range peers {
			select {
			case err := <-ends[i]:
				if err == nil {
					t.Error("a channel ended without an error")
				}
			default:
				t.Fatalf("channel %d continues", i)
			}
		}
	})
}

// TestRequestedBlockHasTime checks that a requested block that stops halfway ends its channel, that a slow one does not, and
// neither does a channel without a block; the request stays open for another channel.
func TestRequestedBlockHasTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newReceiver()
		sp := proto.Span{Piece: 7, Length: 10_000}
		c.pending.Add(sp, true)
		peer, ended := receives(c)
		time.Sleep(time.Hour) // nothing is sent
		write := func(b []byte) {
			t.Helper()
			if _, err := peer.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		write(proto.AppendBlockHeader(nil, sp.Piece, sp.Begin, int(sp.Length)))
		for range 9 {
			time.Sleep(time.Second)
			write(make([]byte, 1000)) // as a limit of 1 kB/s has it
		}
		time.Sleep(blockTimeout)
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("the channel ended early: %v", err)
		default:
		}
		if requested, _, _ := c.pending.Take(sp); requested {
			t.Error("a block may be sent twice at a time")
		}
		time.Sleep(2 * time.Second)
		if err := <-ended; err == nil {
			t.Error("the channel ended without an error")
		}
		if requested, made, _ := c.pending.Take(sp); !requested || !made {
			t.Error("the request is forgotten")
		}
	})
}
