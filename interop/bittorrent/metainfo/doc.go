// Package metainfo converts between manifests and BitTorrent v1 metainfo (BEP 3), and
// validates torrent files and info dictionaries.
//
// A piece of mob is a piece of BitTorrent v1: the same files, concatenated and cut at
// the same offsets. So an info dictionary is a manifest with SHA-1 instead of SHA-256,
// and without symbolic links, empty directories, modes and times. [Build] makes an info
// dictionary, the same bytes from the same manifest and hashes, so that every node has the
// same info-hash. [ParseInfo] is the reverse: its result has a manifest with the SHA-1 hashes.
//
// [Parse] and [ParseInfo] treat their input as hostile: they allocate at most a small
// multiple of its length. Like clients, they accept keys that are not sorted, bytes after the
// end of a torrent file, and trackers and times in other forms. They keep the bytes of the info
// dictionary, since their hash names the content. They reject:
//
//   - repeated keys, if the package uses them, more than 64 levels;
//   - a torrent file of more than [MaxFile] bytes, an info dictionary of more than [MaxInfo];
//   - what is not a valid manifest: more than [proto.MaxEntries] files and directories, an invalid path,
//     one that occurs twice or is below a file, a negative length, another number of hashes, other
//     piece lengths;
//   - a path with a slash in an element, or that is not UTF-8;
//   - a torrent of BitTorrent v2 only (BEP 52).
//
// The package reads no files and opens no sockets.
package metainfo
