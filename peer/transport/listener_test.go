package transport

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/transport"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// pipeListener accepts the ends of pipes.
type pipeListener struct {
	transport.GatedMaListener
	conns  chan pipeConn
	closed chan struct{}
}

func (l *pipeListener) Accept() (manet.Conn, network.ConnManagementScope, error) {
	select {
	case c := <-l.conns:
		return c, &network.NullScope{}, nil
	case <-l.closed:
		return nil, nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

// pipeConn is the end of a pipe, which has no addresses.
type pipeConn struct{ net.Conn }

func (pipeConn) LocalMultiaddr() ma.Multiaddr  { return nil }
func (pipeConn) RemoteMultiaddr() ma.Multiaddr { return nil }

// TestSilentConnections opens connections that send too little to decide. A bulk socket and a libp2p connection get
// through without delay.
func TestSilentConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handshakes := make(chan struct{}, 1)
		pipes := &pipeListener{conns: make(chan pipeConn), closed: make(chan struct{})}
		l := newListener(pipes, func(c net.Conn, _ incoming) {
			handshakes <- struct{}{}
			c.Close()
		})
		defer l.Close()
		began := time.Now()
		connect := func(first string) {
			client, server := net.Pipe()
			t.Cleanup(func() { client.Close() })
			pipes.conns <- pipeConn{server}
			_, _ = io.WriteString(client, first)
		}
		for i := range 500 {
			connect(tlsPrefix[:i%2])
		}
		connect("\x16\x03\x01")
		<-handshakes
		go connect("\x13/m")
		if _, _, err := l.Accept(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("silent connections kept new ones out for %s", took)
		}
	})
}

// A connection is closed if it sends too little to decide, or if it is not accepted.
func TestUndecidedConnectionTimesOut(t *testing.T) {
	for name, first := range map[string]string{"silent": "", "two bytes": tlsPrefix, "not accepted": "\x13/m"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pipes := &pipeListener{conns: make(chan pipeConn), closed: make(chan struct{})}
				l := newListener(pipes, func(net.Conn, incoming) { t.Error("handshake") })
				defer l.Close()
				client, server := net.Pipe()
				defer client.Close()
				pipes.conns <- pipeConn{server}
				began := time.Now()
				if _, err := io.WriteString(client, first); err != nil {
					t.Fatal(err)
				}
				_, err := client.Read(make([]byte, 1))
				if took := time.Since(began); !errors.Is(err, io.EOF) || took != peekTimeout {
					t.Errorf("%v after %s, want EOF after %s", err, took, peekTimeout)
				}
			})
		})
	}
}

// Close ends undecided connections and their goroutines.
func TestCloseEndsUndecidedConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipes := &pipeListener{conns: make(chan pipeConn), closed: make(chan struct{})}
		l := newListener(pipes, func(net.Conn, incoming) { t.Error("handshake") })
		client, server := net.Pipe()
		defer client.Close()
		pipes.conns <- pipeConn{server}
		synctest.Wait()
		began := time.Now()
		if err := l.Close(); err != nil || time.Since(began) > 0 {
			t.Errorf("Close: %v after %s", err, time.Since(began))
		}
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("reading: %v, want EOF", err)
		}
	})
}
