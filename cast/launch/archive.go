package launch

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
)

const (
	// member is the size of the part of a program in one member of its archive, in bytes. Members are compressed in parallel.
	member = 1 << 20
	// level is the level of compression. The default, 6, takes twice the time for 2 % less.
	level = 4
)

// archive is a compressed program: a gzip file of several members (RFC 1952, section 2.2). Equal programs have equal archives,
// on every host.
type archive struct {
	data []byte
	sum  string // SHA-256, in hexadecimal
}

func packFile(path string) (*archive, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return pack(f)
}

func pack(f *os.File) (*archive, error) {
	r, length, err := strip(f)
	if err != nil {
		return nil, err
	}
	program := make([]byte, length)
	if _, err := io.ReadFull(r, program); err != nil {
		return nil, err
	}

	members := make([]bytes.Buffer, (len(program)+member-1)/member)
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range members {
		free <- struct{}{}
		wg.Go(func() {
			z, _ := gzip.NewWriterLevel(&members[i], level)                     // which is one
			_, _ = z.Write(program[i*member : min((i+1)*member, len(program))]) // to memory
			_ = z.Close()
			<-free
		})
	}
	wg.Wait()
	a := new(archive)
	for i := range members {
		a.data = append(a.data, members[i].Bytes()...)
	}
	sum := sha256.Sum256(a.data)
	a.sum = hex.EncodeToString(sum[:])
	return a, nil
}

// strip returns a reader of a program without debugging sections, and its length in bytes. It cuts ELF files after the last
// loaded segment. Programs of other formats may be signed, and are not changed.
func strip(f *os.File) (io.Reader, int64, error) {
	length, err := strippedLength(f)
	if err != nil {
		return nil, 0, err
	}
	head := make([]byte, min(length, 64))
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, 0, err
	}
	removeSections(head)
	rest := io.NewSectionReader(f, int64(len(head)), length-int64(len(head)))
	return io.MultiReader(bytes.NewReader(head), rest), length, nil
}

func strippedLength(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	e, err := elf.NewFile(f)
	if err != nil {
		if _, ok := errors.AsType[*elf.FormatError](err); ok {
			return info.Size(), nil
		}
		return 0, err
	}
	var end uint64
	for _, p := range e.Progs {
		end = max(end, p.Off+p.Filesz)
	}
	return min(int64(end), info.Size()), nil
}

// removeSections clears the fields for section headers in an ELF header of 64 bytes: e_shoff, e_shnum and e_shstrndx.
func removeSections(program []byte) {
	if !bytes.HasPrefix(program, []byte(elf.ELFMAG)) || len(program) < 64 {
		return
	}
	if elf.Class(program[elf.EI_CLASS]) == elf.ELFCLASS32 {
		clear(program[0x20:0x24])
		clear(program[0x30:0x34])
		return
	}
	clear(program[0x28:0x30])
	clear(program[0x3c:0x40])
}
