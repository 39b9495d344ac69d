package transport

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	// applicationData is the type of all records. With it and the version they look like records of TLS.
	applicationData = 23
	// maxBody bounds the body of a record.
	maxBody = maxRecord + recordOverhead
	// fullRecord is the length of the longest record.
	fullRecord = recordHeader + maxBody
	// readRecords and writeRecords are the numbers of full records per read and write.
	readRecords, writeRecords = 4, 16
	// firstRead is the size of the first buffer of a socket. It grows with what arrives: anyone may open sockets.
	firstRead = 1 << 10
	// maxRecords bounds the records that are encrypted with one key, 64 TiB.
	maxRecords = 1 << 32
	// exporterLabel is the label of the keying material (RFC 8446, section 7.5).
	exporterLabel = "EXPORTER-mob-bulk"
	// ivSize is the length of a nonce.
	ivSize = 12
)

var (
	errRecord  = errors.New("invalid record")
	errKeyUsed = errors.New("the socket has carried as many records as its key may encrypt")
)

// recordLayer reads and writes the records of a socket after the TLS handshake, with keys that are exported
// from the handshake. A record is authenticated with its header and its number. It is decrypted into the
// reader's buffer, and several records are read and written with one call. One goroutine may read while
// another writes.
//
// An end of the connection between records is not authenticated: a reader that waits for more gets none, and
// requests the rest again.
type recordLayer struct {
	raw     io.ReadWriter
	in, out *recordCipher

	buf        []byte // what was read of raw: that from start to end is not decrypted
	start, end int
	plain      []byte // decrypted in buf, and not read yet
}

// exportRecordLayer returns the record layer of a connection after its handshake. Nothing that follows the
// handshake was read of raw.
func exportRecordLayer(raw io.ReadWriter, state *tls.ConnectionState, client bool) (*recordLayer, error) {
	key, newAEAD, err := recordAEAD(state.CipherSuite)
	if err != nil {
		return nil, err
	}
	material, err := state.ExportKeyingMaterial(exporterLabel, nil, 2*(key+ivSize))
	if err != nil {
		return nil, err
	}
	return newRecordLayer(raw, material, newAEAD, client)
}

// recordAEAD returns the AEAD of a cipher suite of TLS 1.3, and the length of its keys. crypto/tls chooses
// the suite by what both machines have in hardware.
func recordAEAD(suite uint16) (key int, newAEAD func(key []byte) (cipher.AEAD, error), err error) {
	switch suite {
	case tls.TLS_AES_128_GCM_SHA256:
		return 16, newGCM, nil
	case tls.TLS_AES_256_GCM_SHA384:
		return 32, newGCM, nil
	case tls.TLS_CHACHA20_POLY1305_SHA256:
		return chacha20poly1305.KeySize, chacha20poly1305.New, nil
	}
	return 0, nil, fmt.Errorf("unknown cipher suite %s", tls.CipherSuiteName(suite))
}

func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// newRecordLayer returns the record layer with keying material: key and IV of the client, key and IV of the server.
func newRecordLayer(
	raw io.ReadWriter, material []byte, newAEAD func([]byte) (cipher.AEAD, error), client bool,
) (*recordLayer, error) {
	half := len(material) / 2
	in, err := newRecordCipher(material[:half], newAEAD)
	if err != nil {
		return nil, err
	}
	out, err := newRecordCipher(material[half:], newAEAD)
	if err != nil {
		return nil, err
	}
	if client {
		in, out = out, in
	}
	return &recordLayer{raw: raw, in: in, out: out}, nil
}

func (r *recordLayer) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(r.plain) == 0 {
		record, err := r.next()
		if err != nil {
			return 0, err
		}
		if len(p) >= len(record)-recordHeader-recordOverhead {
			content, err := r.in.open(p[:0], record)
			return len(content), err
		}
		r.plain, err = r.in.open(record[recordHeader:recordHeader], record)
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, r.plain)
	r.plain = r.plain[n:]
	return n, nil
}

// next returns the next record, which is valid until the next call.
func (r *recordLayer) next() ([]byte, error) {
	for {
		have := r.buf[r.start:r.end]
		if len(have) >= recordHeader {
			n := recordHeader + int(binary.BigEndian.Uint16(have[3:]))
			if n > recordHeader+maxBody {
				return nil, errRecord
			}
			if len(have) >= n {
				r.start += n
				return have[:n], nil
			}
		}
		if len(have) == len(r.buf) {
			size := max(2*len(r.buf), firstRead)
			if size > fullRecord {
				size = readRecords * fullRecord
			}
			r.buf = make([]byte, size)
		}
		r.start, r.end = 0, copy(r.buf, have)
		n, err := r.raw.Read(r.buf[r.end:])
		r.end += n
		switch {
		case n > 0:
		case errors.Is(err, io.EOF) && len(have) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
	}
}

// writeBuffer has room for the records of one write, and a short one.
type writeBuffer [(writeRecords + 1) * fullRecord]byte

//nolint:gochecknoglobals // a pool is process-wide by nature, and holds no state
var writeBuffers = sync.Pool{New: func() any { return new(writeBuffer) }}

// Write implements [io.Writer]. The short record comes first: with a block that is the
// header, and the payload fills whole records, which the reader decrypts to its place.
func (r *recordLayer) Write(p []byte) (n int, err error) {
	buf, _ := writeBuffers.Get().(*writeBuffer)
	defer writeBuffers.Put(buf)
	for n < len(p) {
		out := buf[:0]
		size := (len(p) - n) % maxRecord
		for k := 0; k <= writeRecords && n < len(p); k++ {
			if size > 0 {
				if out, err = r.out.seal(out, p[n:n+size]); err != nil {
					return 0, err
				}
				n += size
			}
			size = maxRecord
		}
		if _, err := r.raw.Write(out); err != nil {
			return 0, err // the connection is corrupt: it does not matter how much was written
		}
	}
	return n, nil
}

// recordCipher encrypts or decrypts the records of one direction. Their nonces are the IV and the record's
// number, as in TLS (RFC 8446, section 5.3).
type recordCipher struct {
	aead  cipher.AEAD
	iv    []byte
	seq   uint64
	nonce [ivSize]byte
}

// newRecordCipher returns a cipher with a key that is followed by its IV.
func newRecordCipher(material []byte, newAEAD func([]byte) (cipher.AEAD, error)) (*recordCipher, error) {
	key := len(material) - ivSize
	aead, err := newAEAD(material[:key])
	return &recordCipher{aead: aead, iv: material[key:]}, err
}

// advance returns the nonce of the next record. No nonce is used twice.
func (c *recordCipher) advance() ([]byte, error) {
	if c.seq >= maxRecords {
		return nil, errKeyUsed
	}
	copy(c.nonce[:], c.iv)
	last := c.nonce[len(c.nonce)-8:]
	binary.BigEndian.PutUint64(last, binary.BigEndian.Uint64(last)^c.seq)
	c.seq++
	return c.nonce[:], nil
}

// seal appends a record to dst, which must have room for it.
func (c *recordCipher) seal(dst, content []byte) ([]byte, error) {
	nonce, err := c.advance()
	if err != nil {
		return nil, err
	}
	header := len(dst)
	dst = append(dst, applicationData, 3, 3)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(content)+recordOverhead))
	return c.aead.Seal(dst, nonce, content, dst[header:]), nil
}

// open decrypts a record to dst, and returns its content. There are no empty records.
func (c *recordCipher) open(dst, record []byte) ([]byte, error) {
	header, body := record[:recordHeader], record[recordHeader:]
	if len(body) <= recordOverhead {
		return nil, errRecord
	}
	nonce, err := c.advance()
	if err != nil {
		return nil, err
	}
	return c.aead.Open(dst, nonce, body, header)
}
