package bittorrent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/anacrolix/torrent/mse"
)

// disguised is a connection that began with the encrypted handshake (MSE), which hides
// BitTorrent from networks that look for it, and nothing from anybody who asks: its key
// is the info-hash. Some clients let no other in.
type disguised struct {
	net.Conn
	through io.ReadWriter
}

func (d *disguised) Read(b []byte) (int, error)  { return d.through.Read(b) }
func (d *disguised) Write(b []byte) (int, error) { return d.through.Write(b) }

// SyscallConn is the socket below.
func (d *disguised) SyscallConn() (syscall.RawConn, error) {
	if c, ok := d.Conn.(syscall.Conn); ok {
		return c.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// unmask goes through the encrypted handshake with a client that came and began with
// what is no BitTorrent. After it the stream is in the clear if the client can that.
func (s *Server) unmask(conn net.Conn, began []byte) (net.Conn, error) {
	keys := s.keys()
	if len(keys) == 0 || isText(began) {
		return nil, errForeign // nobody hears that there is anything
	}
	ctx, cancel := context.WithTimeout(s.ctx, handshakeTimeout)
	defer cancel()
	raw := struct {
		io.Reader
		io.Writer
	}{io.MultiReader(bytes.NewReader(began), conn), conn}
	through, _, err := mse.ReceiveHandshake(ctx, raw, func(try func([]byte) bool) {
		for _, key := range keys {
			if !try(key) {
				return
			}
		}
	}, mse.DefaultCryptoSelector)
	if err != nil {
		return nil, err
	}
	return &disguised{conn, through}, nil
}

// keys are the info-hashes by which clients may come.
func (s *Server) keys() (keys [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for hash := range s.lobbies {
		keys = append(keys, bytes.Clone(hash[:]))
	}
	return keys
}

// isText says that bytes are those of a protocol that people can read, such as HTTP. A
// handshake begins with a random number.
func isText(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\r' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}
