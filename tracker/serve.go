package tracker

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/mobgrid/mob/proto"
)

const (
	// maxRequest bounds a request's frame, in bytes: an announce with every
	// address at its limit has less. Without it a stream could ask for a buffer
	// of proto.MaxFrame with four bytes.
	maxRequest = 8 << 10
	// farewell bounds the writing of a refusal after the stream's time is up.
	farewell = time.Second
)

// serve is the stream handler: one request, one reply.
func (s *Server) serve(st network.Stream) {
	if !s.enter(st) {
		st.ResetWithError(network.StreamResourceLimitExceeded)
		return
	}
	defer s.exit(st)
	st.SetDeadline(time.Now().Add(s.cfg.Timeout))
	reply := s.reply(st)
	if bye, ok := reply.(*proto.Goodbye); ok {
		s.cfg.Log.Debug("request refused", "peer", st.Conn().RemotePeer(), "code", bye.Code, "reason", bye.Text)
		st.SetDeadline(time.Now().Add(farewell))
	}
	if err := proto.WriteMessage(st, reply); err != nil {
		s.cfg.Log.Debug("reply not sent", "peer", st.Conn().RemotePeer(), "error", err)
		st.Reset()
		return
	}
	st.Close()
}

// reply reads the request of a stream and carries it out.
func (s *Server) reply(st network.Stream) proto.Message {
	req, err := readRequest(st)
	if err != nil {
		return refuse("bad request: " + err.Error())
	}
	switch req := req.(type) {
	case *proto.Announce:
		// Who announces is whom the connection proved to be, not what a field says.
		id := proto.PeerID(st.Conn().RemotePeer())
		if len(id) > proto.MaxPeerID {
			return refuse("the peer id is too long")
		}
		return s.announce(id, req, memberAddrs(req.Addrs, st.Conn().RemoteMultiaddr()))
	case *proto.FleetRequest:
		return s.fleet(req.Swarm)
	default:
		return refuse(fmt.Sprintf("message type %d is no request to a tracker", req.Type()))
	}
}

// readRequest is proto.ReadMessage with the limit of a request.
func readRequest(r io.Reader) (proto.Message, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	if n := binary.BigEndian.Uint32(length[:]); n > maxRequest {
		return nil, fmt.Errorf("frame of %d bytes, at most %d", n, maxRequest)
	}
	return proto.ReadMessage(io.MultiReader(bytes.NewReader(length[:]), r))
}

func refuse(text string) *proto.Goodbye {
	return goodbye(&proto.RemoteError{Code: proto.CodeProtocol, Text: text})
}

// goodbye is an error as a message, cut to the message's limit.
func goodbye(e *proto.RemoteError) *proto.Goodbye {
	text := strings.ToValidUTF8(e.Text, "?")
	if len(text) > proto.MaxText {
		text = strings.ToValidUTF8(text[:proto.MaxText], "")
	}
	return &proto.Goodbye{Code: e.Code, Text: text}
}

// enter reports whether a stream may be served, and takes it in.
func (s *Server) enter(st network.Stream) bool {
	s.open.Lock()
	defer s.open.Unlock()
	if s.open.closed || len(s.open.streams) >= s.cfg.MaxStreams {
		return false
	}
	s.open.streams[st] = struct{}{}
	s.open.served.Add(1)
	return true
}

func (s *Server) exit(st network.Stream) {
	s.open.Lock()
	delete(s.open.streams, st)
	s.open.Unlock()
	s.open.served.Done()
}
