// Package metainfo turns mob's manifests into BitTorrent v1 metainfo, and reads
// the metainfo of others: torrent files, and info dictionaries alone (BEP 3).
//
// A piece of mob is a piece of BitTorrent v1: the same files, one after the other,
// cut at the same places. So an info dictionary is a manifest with SHA-1 in the place of
// SHA-256, and without what BitTorrent has no word for: symbolic links, empty
// folders, modes and times. [Build] makes it, and makes the same bytes wherever
// manifest and hashes are the same, so that every node names the content by the
// same info-hash. [Torrent.Manifest] is the other way: what a torrent tells of a
// manifest, with its SHA-1.
//
// What others made is hostile until it is checked. [Parse] and [ParseInfo] make no
// more memory than a small multiple of what they read, refuse what is not in the
// canonical form of bencode, and name in the error what is wrong:
//
//   - a torrent file of more than [MaxFile] bytes, an info dictionary of more than [MaxInfo];
//   - more than [proto.MaxEntries] files, a path that a manifest could not hold (absolute, with ".." or
//     empty elements, NUL, too long), one that is not UTF-8, one that is there twice, one below a file;
//   - lengths that are negative, add up to more than a content may have, or to
//     another number of pieces than there are hashes;
//   - pieces of another length than a power of two from [MinPieceLength] to [MaxPieceLength];
//   - a torrent that only BitTorrent v2 clients understand (BEP 52).
//
// The package reads no files and opens no sockets.
package metainfo
