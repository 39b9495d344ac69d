package transport

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	mrand "math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// tlsConfig returns the configuration of a new node.
func tlsConfig(t *testing.T) *tls.Config {
	t.Helper()
	key := newKey(t)
	e, err := NewEndpoint(key)
	if err != nil {
		t.Fatal(err)
	}
	config, _ := e.config("")
	return config
}

// connectALPN returns the ends of a socket between two nodes: the client with these ALPN, and the server.
func connectALPN(t *testing.T, client, server []string) (*Conn, *Conn) {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	from, to := &Conn{input: newRecordReader(a, a)}, &Conn{input: newRecordReader(b, b)}
	config := func(protocols []string) *tls.Config {
		c := tlsConfig(t)
		c.NextProtos = protocols
		return c
	}
	done := make(chan error)
	go func() { done <- from.handshake(t.Context(), config(client), true) }()
	if err := errors.Join(to.handshake(t.Context(), config(server), false), <-done); err != nil {
		t.Fatal(err)
	}
	return from, to
}

// TestALPN connects nodes of this version and of earlier ones, which know TLS records only.
func TestALPN(t *testing.T) {
	t.Parallel()
	both, old := []string{alpn, alpnTLS}, []string{alpnTLS}
	for _, tt := range []struct {
		name           string
		client, server []string
		tls            bool
	}{
		{"both new", both, both, false},
		{"old client", old, both, true},
		{"old server", both, old, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, b := connectALPN(t, tt.client, tt.server)
			for _, c := range []*Conn{a, b} {
				if _, isTLS := c.records.(*tls.Conn); isTLS != tt.tls {
					t.Errorf("records %T", c.records)
				}
			}
			t.Run("client writes", func(t *testing.T) { testChannel(t, b, a) })
			t.Run("server writes", func(t *testing.T) { testChannel(t, a, b) })
			_ = a.input.Conn.Close()
			if n, err := b.Read(make([]byte, 100)); n != 0 || err == nil {
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

// testMaterial is keying material of AES-128-GCM: bytes that count up.
func testMaterial() []byte {
	b := make([]byte, 2*(16+ivSize))
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// testStream is a connection that was read before.
type testStream struct {
	io.Reader
	io.Writer
}

func newTestLayer(t *testing.T, raw io.ReadWriter, client bool) *recordLayer {
	t.Helper()
	r, err := newRecordLayer(raw, testMaterial(), newGCM, client)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sealed returns a record of the client for each text.
func sealed(t *testing.T, texts ...string) (all [][]byte) {
	t.Helper()
	c := newTestLayer(t, nil, true).out
	for _, content := range texts {
		b, err := c.seal(make([]byte, 0, fullRecord), []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

func TestRecordLayerRejects(t *testing.T) {
	all := sealed(t, "first", "second")
	first, second := all[0], all[1]
	flip := func(record []byte, i int) []byte {
		record = slices.Clone(record)
		record[i] ^= 1
		return record
	}
	shorter := slices.Concat([]byte{23, 3, 3, 0, first[4] - 1}, first[recordHeader:len(first)-1])
	for name, test := range map[string]struct {
		stream []byte
		want   error // nil for any
	}{
		"changed content":       {flip(first, recordHeader), nil},
		"changed tag":           {flip(first, len(first)-1), nil},
		"changed type":          {flip(first, 0), nil},
		"changed version":       {flip(first, 2), nil},
		"changed length":        {shorter, nil},
		"second record first":   {second, nil},
		"record of the server":  {reflected(t), nil},
		"empty record":          {sealed(t, "")[0], errRecord},
		"no room for a tag":     {[]byte{23, 3, 3, 0, 2, 1, 2}, errRecord},
		"body that is too long": {[]byte{23, 3, 3, 0x40, 0x11}, errRecord},
		"end within a record":   {first[:len(first)-1], io.ErrUnexpectedEOF},
		"end within a header":   {first[:3], io.ErrUnexpectedEOF},
		"end":                   {nil, io.EOF},
	} {
		for _, size := range []int{3, 1 << 10} { // in place, and through the buffer
			r := newTestLayer(t, testStream{bytes.NewReader(test.stream), nil}, false)
			n, err := r.Read(make([]byte, size))
			if n != 0 || err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("%s: read %d bytes, %v; want the error %v", name, n, err, test.want)
			}
		}
	}
}

// reflected returns a record of the server, which is one that its peer sends back to it.
func reflected(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := newTestLayer(t, &b, false).Write([]byte("first")); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRecordBuffer checks that the buffer of a socket is short until a block arrives.
func TestRecordBuffer(t *testing.T) {
	all := sealed(t, "hello", strings.Repeat("b", maxRecord))
	r := newTestLayer(t, testStream{iotest.OneByteReader(bytes.NewReader(slices.Concat(all...))), nil}, false)
	p := make([]byte, maxRecord)
	for _, want := range []struct {
		content string
		buffer  int
	}{{"hello", firstRead}, {strings.Repeat("b", maxRecord), readRecords * fullRecord}} {
		if n, err := r.Read(p); string(p[:n]) != want.content || err != nil || len(r.buf) != want.buffer {
			t.Errorf("read %d bytes, %v, with a buffer of %d bytes, want %d", n, err, len(r.buf), want.buffer)
		}
	}
}

func TestRecordIsReadOnce(t *testing.T) {
	record := sealed(t, "first")[0]
	r := newTestLayer(t, testStream{bytes.NewReader(slices.Concat(record, record)), nil}, false)
	p := make([]byte, 100)
	if n, err := r.Read(p); string(p[:n]) != "first" || err != nil {
		t.Fatalf("read %q, %v", p[:n], err)
	}
	if n, err := r.Read(p); n != 0 || err == nil {
		t.Errorf("read %d bytes of a record that was replayed", n)
	}
}

// TestRecordNonces checks that no two records of the layer have one nonce and key, and that a key is not used beyond
// its bound.
func TestRecordNonces(t *testing.T) {
	client, server := newTestLayer(t, nil, true), newTestLayer(t, nil, false)
	if bytes.Equal(client.out.iv, client.in.iv) || !bytes.Equal(client.out.iv, server.in.iv) {
		t.Error("the directions have the same IV, or the sides do not agree")
	}
	seen := map[string]bool{}
	for _, seq := range []uint64{0, 1, 2, 255, 256, 1<<32 - 2, 1<<32 - 1} {
		client.out.seq = seq
		nonce, err := client.out.advance()
		if err != nil || seen[string(nonce)] || client.out.seq != seq+1 {
			t.Errorf("record %d: nonce %x, %v", seq, nonce, err)
		}
		seen[string(nonce)] = true
	}
	var sent bytes.Buffer
	client.raw = &sent
	if _, err := client.Write([]byte("one too many")); !errors.Is(err, errKeyUsed) || sent.Len() > 0 {
		t.Errorf("sent %d bytes, %v", sent.Len(), err)
	}
	server.in.seq = maxRecords
	server.raw = testStream{bytes.NewReader(sealed(t, "x")[0]), nil}
	if _, err := server.Read(make([]byte, 100)); !errors.Is(err, errKeyUsed) {
		t.Errorf("read: %v", err)
	}
}

// TestRecordVectors checks that docs/wire.md has the records of each AEAD.
func TestRecordVectors(t *testing.T) {
	text, err := os.ReadFile("../../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(string(text)), "")
	for suite, name := range map[uint16]string{
		tls.TLS_AES_128_GCM_SHA256:       "AES-128-GCM",
		tls.TLS_AES_256_GCM_SHA384:       "AES-256-GCM",
		tls.TLS_CHACHA20_POLY1305_SHA256: "ChaCha20-Poly1305",
	} {
		key, newAEAD, err := recordAEAD(suite)
		if err != nil {
			t.Fatal(err)
		}
		material := make([]byte, 2*(key+ivSize))
		for i := range material {
			material[i] = byte(i)
		}
		var sent bytes.Buffer
		r, err := newRecordLayer(&sent, material, newAEAD, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, content := range []string{"first", "second"} {
			at := sent.Len()
			if _, err := r.Write([]byte(content)); err != nil {
				t.Fatal(err)
			}
			if record := hex.EncodeToString(sent.Bytes()[at:]); !strings.Contains(words, record) {
				t.Errorf("%s: docs/wire.md does not have the record %q: %s", name, content, record)
			}
		}
	}
}

// TestRecordSuites sends with each AEAD.
func TestRecordSuites(t *testing.T) {
	for _, suite := range []uint16{
		tls.TLS_AES_128_GCM_SHA256, tls.TLS_AES_256_GCM_SHA384, tls.TLS_CHACHA20_POLY1305_SHA256,
	} {
		t.Run(tls.CipherSuiteName(suite), func(t *testing.T) {
			key, newAEAD, err := recordAEAD(suite)
			if err != nil {
				t.Fatal(err)
			}
			a, b := net.Pipe()
			defer a.Close()
			defer b.Close()
			material := make([]byte, 2*(key+ivSize))
			_, _ = rand.Read(material)
			from, err := newRecordLayer(a, material, newAEAD, true)
			if err != nil {
				t.Fatal(err)
			}
			to, err := newRecordLayer(b, material, newAEAD, false)
			if err != nil {
				t.Fatal(err)
			}
			testChannel(t, to, from)
			testChannel(t, from, to)
		})
	}
	if _, _, err := recordAEAD(tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256); err == nil {
		t.Error("a suite of TLS 1.2 is taken")
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
	for _, protocol := range []string{alpn, alpnTLS} {
		a, b := tcpPair(t)
		from := &heldConn{Conn: a}
		config := tlsConfig(t)
		config.NextProtos = []string{protocol}
		client := &Conn{input: newRecordReader(from, from)}
		sent := make(chan error, 1)
		go func() {
			if err := client.handshake(t.Context(), config, true); err != nil {
				sent <- err
				return
			}
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
			t.Errorf("%s: read %q, %v", protocol, p[:n], err)
		}
	}
}
