package stock

import (
	"os"

	"github.com/anacrolix/torrent/bencode"
	"github.com/anacrolix/torrent/metainfo"

	"github.com/mobgrid/mob/proto"
)

// NewTorrent hashes a file. Pieces have the length that mob chooses, so that all systems have the same pieces.
func NewTorrent(path, announce string) (*metainfo.MetaInfo, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	info := metainfo.Info{PieceLength: int64(proto.DefaultPieceLength(fi.Size()))}
	if err := info.BuildFromFilePath(path); err != nil {
		return nil, err
	}
	t := &metainfo.MetaInfo{Announce: announce}
	t.InfoBytes, err = bencode.Marshal(info)
	return t, err
}
