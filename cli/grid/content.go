package grid

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

// Content is a file and its hash.
type Content struct {
	Path   string // of the file
	length int64
	sum    [32]byte
}

// WriteRandom makes the content that is to be moved. Nothing of it repeats, so
// nothing can look right by chance.
func WriteRandom(ctx context.Context, dir string, length int64) (c Content, err error) {
	c = Content{Path: filepath.Join(dir, "content.bin"), length: length}
	f, err := os.OpenFile(c.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return c, err
	}
	c.sum, err = copyHashed(ctx, f, randomReader(length))
	return c, errors.Join(err, f.Close())
}

// randomReader is n random bytes.
func randomReader(n int64) io.Reader {
	var key [32]byte
	now := uint64(time.Now().UnixNano())
	for i := range 8 {
		key[i] = byte(now >> (8 * i))
	}
	return io.LimitReader(rand.NewChaCha8(key), n)
}

// hashFile is the SHA-256 of a file.
func hashFile(ctx context.Context, path string) (sum [32]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	return copyHashed(ctx, io.Discard, f)
}

// copyHashed copies until the end, or until ctx ends, and hashes what it copies.
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
