package stock

import (
	"crypto/sha1"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/anacrolix/torrent/bencode"
)

// The piece length is the least power of two from minPieceLength to maxPieceLength that
// gives at most maxPieces, if any does. It is also mob's choice, so that all
// systems have the same pieces.
const (
	minPieceLength = 16 << 10
	maxPieceLength = 16 << 20
	maxPieces      = 2000
)

func pieceLength(size int64) int64 {
	n := int64(minPieceLength)
	for n < maxPieceLength && n*maxPieces < size {
		n *= 2
	}
	return n
}

// Torrent is the torrent file of one file.
type Torrent struct {
	// Name is the name of the file, Announce the URL of the tracker.
	Name, Announce string

	size, pieceLength int64
	pieces            []byte // a SHA-1 each
}

// NewTorrent hashes a file.
func NewTorrent(path, announce string) (*Torrent, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	t := &Torrent{Name: filepath.Base(path), Announce: announce, size: fi.Size(), pieceLength: pieceLength(fi.Size())}
	for buf := make([]byte, t.pieceLength); ; {
		n, err := io.ReadFull(f, buf)
		if n > 0 {
			sum := sha1.Sum(buf[:n])
			t.pieces = append(t.pieces, sum[:]...)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (t *Torrent) info() map[string]any {
	return map[string]any{
		"length":       t.size,
		"name":         t.Name,
		"piece length": t.pieceLength,
		"pieces":       string(t.pieces),
	}
}

// Info is the bencoded info dictionary.
func (t *Torrent) Info() []byte { return bencode.MustMarshal(t.info()) }

// InfoHash is the SHA-1 of the info dictionary.
func (t *Torrent) InfoHash() [sha1.Size]byte { return sha1.Sum(t.Info()) }

// Encode makes the torrent file.
func (t *Torrent) Encode() []byte {
	return bencode.MustMarshal(map[string]any{"announce": t.Announce, "info": t.info()})
}
