package cli

import (
	"context"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"os"
	"time"
)

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
