package stock

import (
	"crypto/sha1"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/anacrolix/torrent/bencode"
)

// Pieces are of minPiece bytes, or twice as much and so on until there are at most
// somePieces or they have maxPiece: as mob's own are, so that both systems have
// the same to choose from.
const (
	minPiece   = 64 << 10
	maxPiece   = 16 << 20
	somePieces = 2000
)

// torrent is what a torrent file says of one file.
type torrent struct {
	announce string
	name     string
	size     int64
	piece    int64
	pieces   []byte // a SHA-1 each
}

// newTorrent hashes a file.
func newTorrent(path, announce string) (*torrent, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	t := &torrent{announce: announce, name: filepath.Base(path), size: fi.Size(), piece: minPiece}
	for t.piece < maxPiece && t.piece*somePieces < t.size {
		t.piece *= 2
	}
	for buf := make([]byte, t.piece); ; {
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

// info is the part that the content alone decides.
func (t *torrent) info() map[string]any {
	return map[string]any{
		"length":       t.size,
		"name":         t.name,
		"piece length": t.piece,
		"pieces":       string(t.pieces),
	}
}

// infoHash names the content among clients.
func (t *torrent) infoHash() [sha1.Size]byte { return sha1.Sum(bencode.MustMarshal(t.info())) }

// encode is the torrent file.
func (t *torrent) encode() []byte {
	return bencode.MustMarshal(map[string]any{"announce": t.announce, "info": t.info()})
}
