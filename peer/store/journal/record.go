package journal

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	headerSize = 64
	recordSize = 32
	// journalVersion changes with anything that older readers would misread.
	journalVersion = 2
	journalMagic   = "mobstore"
	flagSeed       = 1
)

// recordKind is the kind of a record.
type recordKind uint8

const (
	recordBoot   recordKind = 1
	recordCommit recordKind = 2
	recordForget recordKind = 3
	recordMark   recordKind = 5
	recordFile   recordKind = 11
)

// Flags of a file record.
const (
	flagMade = 1 << iota
	flagTouched
	flagForeign
	flagFinal
	flagUnverified // the verified pieces of the file are unverified from then on
	flagFound      // so are all its pieces, which no crash can have lost
	flagBorn       // a is the time when the file was created, and it has no time of its last change
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

// File is the record of an entry that exists: a file, a directory or a symbolic link.
type File struct {
	Stamp
	// Born is the time of its creation, 0 if that is not known. Another file may get its inode number later.
	Born int64
	// Made is set if the transfer created it, or the file that it replaced by a copy. Otherwise it is older than the transfer.
	Made bool
	// Touched is set if it had another stamp than recorded when the store was opened.
	Touched bool
	// Foreign is set if another program put it in the place of the transfer's file. It may be read, and is not written to.
	Foreign bool
	// Final is set once it has its mode and time: other programs may change it from then on.
	Final bool
}

// Owns reports whether a transfer may write to what has an inode number.
func (f File) Owns(inode uint64) bool { return !f.Foreign && f.Inode != 0 && f.Inode == inode }

// flags returns the flags of a record of f.
func (f File) flags() (b uint8) {
	for i, set := range []bool{f.Made, f.Touched, f.Foreign, f.Final} {
		if set {
			b |= 1 << i
		}
	}
	return b
}

// flagAll is set in a mark that covers all pieces, whether their commits can be read or not.
const flagAll = 1

// record is one record of the journal; see the package comment.
type record struct {
	kind   recordKind
	flags  uint8
	index  uint32
	a, b   uint64
	number uint32
}

func bootRecord(id BootID) record {
	return record{kind: recordBoot, a: binary.LittleEndian.Uint64(id[:8]), b: binary.LittleEndian.Uint64(id[8:])}
}

func fileRecord(index int, f File, flags uint8) record {
	r := record{kind: recordFile, flags: f.flags() | flags, index: uint32(index), a: uint64(f.Changed), b: f.Inode}
	if f.Changed == 0 && f.Born != 0 {
		r.flags, r.a = r.flags|flagBorn, uint64(f.Born)
	}
	return r
}

func (r record) file() File {
	f := File{
		Stamp: Stamp{Changed: int64(r.a), Inode: r.b},
		Made:  r.flags&flagMade != 0, Touched: r.flags&flagTouched != 0,
		Foreign: r.flags&flagForeign != 0, Final: r.flags&flagFinal != 0,
	}
	if r.flags&flagBorn != 0 {
		f.Born, f.Changed = f.Changed, 0
	}
	return f
}

func (r record) boot() (id BootID) {
	binary.LittleEndian.PutUint64(id[:8], r.a)
	binary.LittleEndian.PutUint64(id[8:], r.b)
	return id
}

// append appends the encoded record to b.
func (r record) append(b []byte) []byte {
	le, start := binary.LittleEndian, len(b)
	b = append(b, byte(r.kind), r.flags, 0, 0)
	b = le.AppendUint32(b, r.index)
	b = le.AppendUint64(b, r.a)
	b = le.AppendUint64(b, r.b)
	b = le.AppendUint32(b, r.number)
	return le.AppendUint32(b, checksum(b[start:]))
}

// parseRecord decodes the record in b. It reports false if it is torn or damaged.
func parseRecord(b []byte) (record, bool) {
	le := binary.LittleEndian
	if len(b) != recordSize || le.Uint32(b[28:]) != checksum(b[:28]) || b[2]|b[3] != 0 {
		return record{}, false
	}
	return record{
		kind: recordKind(b[0]), flags: b[1], index: le.Uint32(b[4:]),
		a: le.Uint64(b[8:]), b: le.Uint64(b[16:]), number: le.Uint32(b[24:]),
	}, true
}

// Header describes the content of a journal. It never changes.
type Header struct {
	// Seed reports that the content is seeded in place: every piece is verified until a record contradicts.
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

// parseHeader decodes a header and returns its version, 0 if it is damaged or the version is unknown.
func parseHeader(b []byte) (h Header, version uint32) {
	le := binary.LittleEndian
	if len(b) < headerSize || string(b[:8]) != journalMagic || le.Uint32(b[60:]) != checksum(b[:60]) {
		return h, 0
	}
	if version = le.Uint32(b[8:]); version > journalVersion {
		return h, 0
	}
	return Header{Seed: le.Uint32(b[12:])&flagSeed != 0, Manifest: [32]byte(b[16:48])}, version
}

func checksum(b []byte) uint32 {
	// MakeTable returns the one shared table of this polynomial.
	return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
}
