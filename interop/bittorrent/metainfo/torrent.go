package metainfo

import (
	"errors"

	"github.com/mobgrid/mob/proto"
)

// Limits of a torrent.
const (
	// MaxInfo bounds an info dictionary, in bytes.
	MaxInfo = proto.MaxTorrent
	// MaxFile bounds a torrent file, in bytes. It may also contain the hash trees of
	// BitTorrent v2, which are skipped.
	MaxFile = 2 * MaxInfo
)

// Torrent is a valid info dictionary. It must not be changed, so any number of goroutines may read it.
type Torrent struct {
	// Info is the encoded info dictionary, as its author made it.
	Info []byte
	// Hash is the info-hash: the SHA-1 of Info.
	Hash proto.InfoHash
	// Private is true if peers may come from the torrent's trackers only (BEP 27).
	Private bool
	// Manifest is the manifest of the content: the files in the order of the torrent, each directory
	// before the first file in it, modes 0644 or 0755, no times, and the SHA-1 hashes of the
	// pieces. It is [proto.Manifest.TorrentOnly]. Equal torrents have equal manifests on every node.
	Manifest *proto.Manifest
}

// Match returns an error if the torrent and m differ in their pieces, files or order of files. It
// does not compare names of the content, and hashes, which are of different kinds.
func (t *Torrent) Match(m *proto.Manifest) error {
	named := *m
	named.Name = t.Manifest.Name
	if !t.Manifest.SameFiles(&named) {
		return errors.New("torrent: the files or the piece length differ from the manifest")
	}
	return nil
}
