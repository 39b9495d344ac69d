package demo

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// content is the file that a demo distributes, and its hash.
type content struct {
	path   string
	length int64
	sum    [32]byte
}

// writeContent makes a file of random bytes. Nothing in it repeats, so no
// copy is right by chance.
func writeContent(ctx context.Context, dir string, length int64) (c content, err error) {
	c = content{path: filepath.Join(dir, "content.bin"), length: length}
	f, err := os.OpenFile(c.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return c, err
	}
	c.sum, err = copyHashed(ctx, f, randomReader(length))
	return c, errors.Join(err, f.Close())
}

// randomReader returns n random bytes.
func randomReader(n int64) io.Reader {
	var key [32]byte
	now := uint64(time.Now().UnixNano())
	for i := range 8 {
		key[i] = byte(now >> (8 * i))
	}
	return io.LimitReader(rand.NewChaCha8(key), n)
}

// hashFile returns the SHA-256 of a file.
func hashFile(ctx context.Context, path string) (sum [32]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	return copyHashed(ctx, io.Discard, f)
}

// copyHashed copies r to w and returns the SHA-256 of the bytes. It stops when
// ctx ends.
func copyHashed(ctx context.Context, w io.Writer, r io.Reader) (sum [32]byte, err error) {
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for {
		n, err := r.Read(buf)
		h.Write(buf[:n])
		if _, werr := w.Write(buf[:n]); werr != nil {
			return sum, werr
		}
		if err == io.EOF {
			return [32]byte(h.Sum(nil)), nil
		}
		if err != nil {
			return sum, err
		}
		if ctx.Err() != nil {
			return sum, ctx.Err()
		}
	}
}
