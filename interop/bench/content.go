package bench

import (
	"context"
	"crypto/sha256"
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

// contentSum is the SHA-256 of a file.
func contentSum(ctx context.Context, path string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, &reader{ctx, f})
	return [sha256.Size]byte(h.Sum(nil)), err
}

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
