package transport

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	mrand "math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"
)

// tlsConfig returns the configuration of a new node.
func tlsConfig(t *testing.T) *tls.Config {
	t.Helper()
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEndpoint(key)
	if err != nil {
		t.Fatal(err)
	}
	config, _ := e.config("")
	return config
}

// connectTLS returns a socket, and a connection of crypto/tls at its other end.
func connectTLS(t *testing.T, client bool) (*Conn, *tls.Conn) {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	c := &Conn{input: newRecordReader(a, a)}
	other := tls.Client(b, tlsConfig(t))
	if client {
		other = tls.Server(b, tlsConfig(t))
	}
	done := make(chan error)
	go func() { done <- other.HandshakeContext(t.Context()) }()
	if err := errors.Join(c.handshake(t.Context(), tlsConfig(t), client), <-done); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.records.(*recordLayer); !ok {
		t.Skip("crypto/tls prefers another cipher on this machine")
	}
	return c, other
}

func TestRecordLayerSpeaksTLS(t *testing.T) {
	for name, client := range map[string]bool{"client": true, "server": false} {
		t.Run(name, func(t *testing.T) {
			c, other := connectTLS(t, client)
			t.Run("writes", func(t *testing.T) { testChannel(t, other, c) })
			t.Run("reads", func(t *testing.T) { testChannel(t, c, other) })
			go other.Close() // waits until its alert is read
			if n, err := c.Read(make([]byte, 100)); n != 0 || err == nil {
				t.Errorf("after the end read %d bytes, %v; want an error", n, err)
			}
		})
	}
}

// testChannel sends bytes in writes and reads of random length, from none to several
// batches of records.
func testChannel(t *testing.T, r io.Reader, w io.Writer) {
	sent := make([]byte, 4<<20)
	_, _ = rand.Read(sent)
	written := make(chan error, 1)
	go func() {
		rng := mrand.New(mrand.NewPCG(1, 2))
		for left := sent; len(left) > 0; {
			n := min(rng.IntN(1<<rng.IntN(20)), len(left))
			if k, err := w.Write(left[:n]); k != n || err != nil {
				written <- errors.Join(io.ErrShortWrite, err)
				return
			}
			left = left[n:]
		}
		written <- nil
	}()
	got := make([]byte, len(sent))
	rng := mrand.New(mrand.NewPCG(3, 4))
	for at := 0; at < len(got); {
		n := min(rng.IntN(1<<rng.IntN(20)), len(got)-at)
		k, err := r.Read(got[at : at+n])
		if err != nil {
			t.Fatal(err)
		}
		at += k
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	if !bytes.Equal(got, sent) {
		t.Error("the received bytes differ")
	}
}

// newTestCipher returns a cipher with a secret that all have.
func newTestCipher(t *testing.T) *recordCipher {
	t.Helper()
	c, err := newRecordCipher(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRecordLayerRefuses(t *testing.T) {
	seal := func(c *recordCipher, content string) []byte {
		return c.seal(make([]byte, 0, fullRecord), []byte(content))
	}
	c := newTestCipher(t)
	first, second := seal(c, "first"), seal(c, "second")
	alert := slices.Clone(first[:recordHeader])
	binary.BigEndian.PutUint16(alert[3:], 3+16)
	alert = newTestCipher(t).aead.Seal(alert, newTestCipher(t).advance(), []byte{1, 0, 21}, alert)
	flip := func(record []byte, i int) []byte {
		record = slices.Clone(record)
		record[i] ^= 1
		return record
	}
	for name, test := range map[string]struct {
		stream []byte
		want   error // nil for any
	}{
		"changed content":       {flip(first, recordHeader), nil},
		"changed tag":           {flip(first, len(first)-1), nil},
		"changed header":        {flip(first, 0), nil},
		"second record first":   {second, nil},
		"record of an alert":    {alert, errRecord},
		"empty record":          {seal(newTestCipher(t), ""), errRecord},
		"no room for a tag":     {[]byte{23, 3, 3, 0, 2, 1, 2}, nil},
		"body that is too long": {[]byte{23, 3, 3, 0x41, 0x01}, errRecord},
		"end within a record":   {first[:len(first)-1], io.ErrUnexpectedEOF},
		"end within a header":   {first[:3], io.ErrUnexpectedEOF},
		"end":                   {nil, io.EOF},
	} {
		for _, size := range []int{3, 1 << 10} { // in place, and through the buffer
			raw := struct {
				io.Reader
				io.Writer
			}{bytes.NewReader(test.stream), nil}
			r, err := newRecordLayer(raw, make([]byte, 32), make([]byte, 32))
			if err != nil {
				t.Fatal(err)
			}
			n, err := r.Read(make([]byte, size))
			if n != 0 || err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("%s: read %d bytes, %v; want the error %v", name, n, err, test.want)
			}
		}
	}
}

func TestRecordIsReadOnce(t *testing.T) {
	record := newTestCipher(t).seal(make([]byte, 0, fullRecord), []byte("first"))
	raw := bytes.NewBuffer(slices.Concat(record, record))
	r, err := newRecordLayer(raw, make([]byte, 32), make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 100)
	if n, err := r.Read(p); string(p[:n]) != "first" || err != nil {
		t.Fatalf("read %q, %v", p[:n], err)
	}
	if n, err := r.Read(p); n != 0 || err == nil {
		t.Errorf("read %d bytes of a record that was replayed", n)
	}
}

// tcpPair returns the two ends of a TCP connection.
func tcpPair(t *testing.T) (a, b *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	from, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	to, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = from.Close(), to.Close() })
	return from.(*net.TCPConn), to.(*net.TCPConn)
}

// heldConn keeps what is written until the next read, or the flush.
type heldConn struct {
	net.Conn
	held []byte
}

func (c *heldConn) Write(p []byte) (int, error) {
	c.held = append(c.held, p...)
	return len(p), nil
}

func (c *heldConn) Read(p []byte) (int, error) {
	if err := c.flush(); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *heldConn) flush() error {
	_, err := c.Conn.Write(c.held)
	c.held = nil
	return err
}

func TestHandshakeLeavesWhatFollows(t *testing.T) {
	a, b := tcpPair(t)
	from := &heldConn{Conn: a}
	client := tls.Client(from, tlsConfig(t))
	sent := make(chan error, 1)
	go func() {
		_, err := client.Write([]byte("first block")) // with the end of the handshake
		sent <- errors.Join(err, from.flush())
	}()
	c := &Conn{input: newRecordReader(b, b)}
	_ = b.SetReadDeadline(time.Now().Add(waitTimeout))
	if err := errors.Join(c.handshake(t.Context(), tlsConfig(t), false), <-sent); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 100)
	if n, err := c.Read(p); string(p[:n]) != "first block" || err != nil {
		t.Errorf("read %q, %v", p[:n], err)
	}
}
