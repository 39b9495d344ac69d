package journal

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	headerSize = 64
	recordSize = 32
	// journalVersion changes with anything that older readers would misread.
	journalVersion = 1
	journalMagic   = "mobstore"
	flagSeed       = 1
)

// recordKind is the kind of a record. Kinds are only added.
type recordKind uint8

const (
	recordBoot   recordKind = 1
	recordCommit recordKind = 2
	recordForget recordKind = 3
	recordDoubt  recordKind = 4
	recordMark   recordKind = 5
	recordInode  recordKind = 6
	recordMTime  recordKind = 7 // of earlier versions
	recordWhole  recordKind = 8
	recordStamp  recordKind = 9
	recordEntry  recordKind = 10

	flagMade    = 1
	flagTouched = 2
)

// BootID identifies one boot of a machine. Zero is unknown.
type BootID [16]byte

// Stamp identifies one state of a file: any change of the file changes it too.
type Stamp struct {
	// Changed is the time of the last change of the file's bytes, mode or links, in Unix
	// nanoseconds.
	Changed int64
	// Inode is the file's inode number.
	Inode uint64
}

// File is a file, directory or symbolic link on the disk that a transfer made or found.
type File struct {
	Inode uint64
	// Made is set if the transfer created it, or the file that it replaced by a copy. Otherwise it is older than the transfer.
	Made bool
	// Touched is set if it had another stamp than recorded when the content was opened.
	Touched bool
}

func (f File) flags() (b uint64) {
	if f.Made {
		b |= flagMade
	}
	if f.Touched {
		b |= flagTouched
	}
	return b
}

// record is one record of the journal; see the package comment.
type record struct {
	kind   recordKind
	index  uint32
	a, b   uint64
	number uint32
}

func bootRecord(id BootID) record {
	return record{kind: recordBoot, a: binary.LittleEndian.Uint64(id[:8]), b: binary.LittleEndian.Uint64(id[8:])}
}

func (r record) file() File {
	return File{Inode: r.a, Made: r.b&flagMade != 0, Touched: r.b&flagTouched != 0}
}

func (r record) boot() (id BootID) {
	binary.LittleEndian.PutUint64(id[:8], r.a)
	binary.LittleEndian.PutUint64(id[8:], r.b)
	return id
}

// put encodes r into b, which has recordSize bytes.
func (r record) put(b []byte) {
	le := binary.LittleEndian
	le.PutUint32(b[0:], uint32(r.kind))
	le.PutUint32(b[4:], r.index)
	le.PutUint64(b[8:], r.a)
	le.PutUint64(b[16:], r.b)
	le.PutUint32(b[24:], r.number)
	le.PutUint32(b[28:], checksum(b[:28]))
}

// parseRecord decodes the record in b. It reports false if it is torn or damaged.
func parseRecord(b []byte) (record, bool) {
	le := binary.LittleEndian
	if len(b) != recordSize || le.Uint32(b[28:]) != checksum(b[:28]) || b[1]|b[2]|b[3] != 0 {
		return record{}, false
	}
	return record{
		kind: recordKind(b[0]), index: le.Uint32(b[4:]),
		a: le.Uint64(b[8:]), b: le.Uint64(b[16:]), number: le.Uint32(b[24:]),
	}, true
}

// Header describes the content of a journal. It never changes.
type Header struct {
	// Seed reports that the content is seeded in place.
	Seed bool
	// Manifest is the SHA-256 of the content's manifest.
	Manifest [32]byte
}

func (h Header) encode() []byte {
	b := make([]byte, headerSize)
	copy(b, journalMagic)
	binary.LittleEndian.PutUint32(b[8:], journalVersion)
	if h.Seed {
		binary.LittleEndian.PutUint32(b[12:], flagSeed)
	}
	copy(b[16:], h.Manifest[:])
	binary.LittleEndian.PutUint32(b[60:], checksum(b[:60]))
	return b
}

// parseHeader decodes a header. It reports false if it is damaged or of another
// version.
func parseHeader(b []byte) (Header, bool) {
	le := binary.LittleEndian
	if len(b) < headerSize || string(b[:8]) != journalMagic ||
		le.Uint32(b[8:]) != journalVersion || le.Uint32(b[60:]) != checksum(b[:60]) {
		return Header{}, false
	}
	return Header{Seed: le.Uint32(b[12:])&flagSeed != 0, Manifest: [32]byte(b[16:48])}, true
}

func checksum(b []byte) uint32 {
	// MakeTable returns the one shared table of this polynomial.
	return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
}
