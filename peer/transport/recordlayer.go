package transport

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"sync"
)

const (
	// applicationData is the content type of records with payload, and of all records
	// after the handshake on the outside.
	applicationData = 23
	// maxBody bounds the body of a record, padding included (RFC 8446, section 5.2).
	maxBody = maxRecord + 256
	// fullRecord is the length of a record with the most payload that crypto/tls sends.
	fullRecord = recordHeader + maxRecord + recordOverhead
	// readRecords and writeRecords are how many full records are read and written at once.
	readRecords, writeRecords = 4, 8
)

var (
	errRecord = errors.New("invalid TLS record")
	errSecret = errors.New("the TLS handshake left no secret")
)

// recordLayer reads and writes the records of a TLS 1.3 connection after the handshake.
// On the wire it is what crypto/tls is. But it decrypts into the reader's buffer, and
// reads and writes several records with one call. One goroutine may read while another
// writes.
type recordLayer struct {
	raw     io.ReadWriter
	in, out *recordCipher

	buf        []byte // what was read of raw: that from start to end is not decrypted
	start, end int
	plain      []byte // decrypted in buf, and not read yet
}

// newRecordLayer returns the record layer of a connection with the cipher
// TLS_AES_128_GCM_SHA256, and with the secrets of both directions. Nothing that follows
// the handshake was read of raw.
func newRecordLayer(raw io.ReadWriter, in, out []byte) (*recordLayer, error) {
	opens, err := newRecordCipher(in)
	if err != nil {
		return nil, err
	}
	seals, err := newRecordCipher(out)
	if err != nil {
		return nil, err
	}
	return &recordLayer{raw: raw, in: opens, out: seals, buf: make([]byte, readRecords*fullRecord)}, nil
}

// Read implements [io.Reader].
func (r *recordLayer) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(r.plain) == 0 {
		record, err := r.next()
		if err != nil {
			return 0, err
		}
		// The content is followed by its type, for which p must have room, too.
		if len(p) > len(record)-recordHeader-recordOverhead {
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
		if short := (len(p) - n) % maxRecord; short > 0 {
			out = r.out.seal(out, p[n:n+short])
			n += short
		}
		for k := 0; k < writeRecords && n < len(p); k++ {
			out = r.out.seal(out, p[n:n+maxRecord])
			n += maxRecord
		}
		if _, err := r.raw.Write(out); err != nil {
			return 0, err // the connection is corrupt: it does not matter how much was written
		}
	}
	return n, nil
}

// recordCipher encrypts or decrypts the records of one direction (RFC 8446, section 5).
type recordCipher struct {
	aead  cipher.AEAD
	iv    []byte
	seq   uint64
	nonce [12]byte
}

func newRecordCipher(secret []byte) (*recordCipher, error) {
	if len(secret) != sha256.Size {
		return nil, errSecret
	}
	key, err := expandLabel(secret, "key", 16)
	if err != nil {
		return nil, err
	}
	c := new(recordCipher)
	c.iv, err = expandLabel(secret, "iv", len(c.nonce))
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	c.aead, err = cipher.NewGCM(block)
	return c, err
}

// expandLabel is HKDF-Expand-Label with an empty context (RFC 8446, section 7.1).
func expandLabel(secret []byte, label string, length int) ([]byte, error) {
	label = "tls13 " + label
	info := []byte{byte(length >> 8), byte(length), byte(len(label))}
	info = append(append(info, label...), 0)
	return hkdf.Expand(sha256.New, secret, string(info), length)
}

// advance returns the nonce of the next record.
func (c *recordCipher) advance() []byte {
	copy(c.nonce[:], c.iv)
	last := c.nonce[len(c.nonce)-8:]
	binary.BigEndian.PutUint64(last, binary.BigEndian.Uint64(last)^c.seq)
	c.seq++
	return c.nonce[:]
}

// seal appends a record to dst, which must have room for it.
func (c *recordCipher) seal(dst, content []byte) []byte {
	header := len(dst)
	dst = append(dst, applicationData, 3, 3)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(content)+recordOverhead))
	body := len(dst)
	dst = append(append(dst, content...), applicationData)
	sealed := c.aead.Seal(dst[body:body], c.advance(), dst[body:], dst[header:body])
	return dst[:body+len(sealed)]
}

// open decrypts a record to dst, and returns its content. Nodes send no other content
// than payload, and neither empty records nor padding: all else ends the connection.
func (c *recordCipher) open(dst, record []byte) ([]byte, error) {
	header, body := record[:recordHeader], record[recordHeader:]
	inner, err := c.aead.Open(dst, c.advance(), body, header)
	if err != nil {
		return nil, err
	}
	n := len(inner) - 1
	if n < 1 || inner[n] != applicationData {
		return nil, errRecord
	}
	return inner[:n], nil
}
