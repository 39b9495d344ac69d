package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
)

// writeContent makes a file of n random bytes.
func writeContent(ctx context.Context, path string, n int64, seed uint64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	_, err = io.Copy(f, &reader{ctx, io.LimitReader(rand.NewChaCha8(key), n)})
	return errors.Join(err, f.Close())
}

// sameContent reports whether two files are equal.
func sameContent(ctx context.Context, a, b string) (bool, error) {
	fa, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer fb.Close()
	ba, bb := make([]byte, 1<<20), make([]byte, 1<<20)
	for ctx.Err() == nil {
		na, erra := io.ReadFull(fa, ba)
		nb, errb := io.ReadFull(fb, bb)
		if !bytes.Equal(ba[:na], bb[:nb]) {
			return false, nil
		}
		if erra != nil || errb != nil {
			return ended(erra) && ended(errb), nil
		}
	}
	return false, ctx.Err()
}

// ended reports whether a read has reached the end of its file.
func ended(err error) bool { return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) }

// reader fails when its context has ended.
type reader struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
