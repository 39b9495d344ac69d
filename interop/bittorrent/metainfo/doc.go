// Package metainfo converts between manifests and BitTorrent v1 metainfo (BEP 3), and
// validates torrent files and info dictionaries.
//
// A piece of mob is a piece of BitTorrent v1: the same files, concatenated and cut at
// the same offsets. So an info dictionary is a manifest with SHA-1 instead of SHA-256,
// and without symbolic links, empty directories, modes and times. [Build] makes the same bytes from the same manifest and hashes, so that every
// node names the content by the same info-hash. [Torrent.Manifest] is the reverse: a
// manifest with the SHA-1 hashes of a torrent.
//
// [Parse] and [ParseInfo] treat their input as hostile. They allocate at most a small
// multiple of its length, and name the offending field in the error. Like clients, they
// accept non-canonical files: keys that are not sorted, bytes after the end
// of a torrent file, trackers and times in other forms. The bytes of the info dictionary
// stay as they are, since their hash names the content. They reject:
//
//   - repeated keys;
//   - a torrent file of more than [MaxFile] bytes, an info dictionary of more than [MaxInfo];
//   - more than [proto.MaxEntries] files, and a path that is not valid in a manifest
//     (absolute, with ".." or empty elements, NUL, too long), that is not UTF-8, that
//     occurs twice or is below a file;
//   - lengths that are negative, add up to more than the limit, or do not
//     match the number of hashes;
//   - a piece length that is not a power of two from 16 KiB to 256 MiB;
//   - a torrent of BitTorrent v2 only (BEP 52).
//
// The package reads no files and opens no sockets.
package metainfo
