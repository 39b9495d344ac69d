package bittorrent

import (
	"bytes"
	"context"
	"errors"
	"expvar"
	"io"
	"net"
	"slices"
	"syscall"

	"github.com/anacrolix/torrent/mse"
)

// encryptedConn is a connection with the encrypted handshake (MSE), which some clients
// require. It hides BitTorrent from traffic shapers, but is not secure: its key is the
// info-hash.
type encryptedConn struct {
	net.Conn
	rw io.ReadWriter
}

func (c *encryptedConn) Read(b []byte) (int, error)  { return c.rw.Read(b) }
func (c *encryptedConn) Write(b []byte) (int, error) { return c.rw.Write(b) }

// SyscallConn implements [syscall.Conn].
func (c *encryptedConn) SyscallConn() (syscall.RawConn, error) {
	if sc, ok := c.Conn.(syscall.Conn); ok {
		return sc.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// cipherCounts is the name of a map of the library.
const cipherCounts = "mseCryptoProvides"

// acceptMSE accepts an encrypted handshake whose first bytes are start. After it the
// stream is plaintext if the client supports that.
func (s *Server) acceptMSE(conn net.Conn, start []byte) (net.Conn, error) {
	keys := s.infoHashes()
	if len(keys) == 0 || isText(start) {
		return nil, errNotBitTorrent // without a reply
	}
	ctx, cancel := context.WithTimeout(s.ctx, handshakeTimeout)
	defer cancel()
	raw := struct {
		io.Reader
		io.Writer
	}{io.MultiReader(bytes.NewReader(start), conn), conn}
	rw, _, err := mse.ReceiveHandshake(ctx, raw, mse.SecretKeyIter(slices.Values(keys)), mse.DefaultCryptoSelector)
	// The library counts the offered sets of ciphers by their number, and a client may offer ever new ones.
	if counts, ok := expvar.Get(cipherCounts).(*expvar.Map); ok {
		counts.Init()
	}
	if err != nil {
		return nil, err
	}
	return &encryptedConn{conn, rw}, nil
}

// infoHashes are the torrents of the server, which are the keys of MSE.
func (s *Server) infoHashes() (keys [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for hash := range s.managers {
		keys = append(keys, bytes.Clone(hash[:]))
	}
	return keys
}

// isText reports whether b is printable, as in HTTP. The encrypted handshake starts
// with a random number.
func isText(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r > '~' || r < ' ' && r != '\r' && r != '\n' && r != '\t' })
}
