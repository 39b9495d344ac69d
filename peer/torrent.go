package peer

import "github.com/mobgrid/mob/proto"

// InfoHash returns the content's info-hash, zero if it is not offered to BitTorrent clients.
func (t *Transfer) InfoHash() proto.InfoHash { return t.Link().InfoHash }

// Torrent returns the content's info dictionary, nil if the content is not offered to BitTorrent
// clients, or while the dictionary is not known yet. It must not be changed.
func (t *Transfer) Torrent() []byte { return t.Description().Torrent() }
