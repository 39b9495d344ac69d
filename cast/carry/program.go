package carry

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

const (
	// agentName is the program's name, before the system and the architecture for which one is that
	// the caster does not run on.
	agentName = "mob-agent"
	// markerRange is where in a program its build id is looked for, in bytes from its start, as the go
	// command does.
	markerRange = 64 << 10
)

// Programs are what can be carried: a program for each platform.
type Programs struct {
	folder string // where they were looked for
	all    []*program
	others []string // names of programs that are of another build
}

// program is what runs on the hosts of a platform.
type program struct {
	platform platform
	path     string
	name     string // on the host
	args     string
	marker   string // the build id
	version  string // a short form of it
	length   int64  // without what only debuggers need
	archive  func() (*archive, error)
}

// Find returns the programs for an executable of mob: the files mob-agent and mob-agent-SYSTEM-ARCH beside it.
// They must be of the same build. If there is none for the executable's own platform, that is
// the executable itself, with the argument "agent".
func Find(executable string) (*Programs, error) {
	own, err := buildinfo.ReadFile(executable)
	if err != nil {
		return nil, err
	}
	ps := &Programs{folder: filepath.Dir(executable)}
	paths, err := filepath.Glob(filepath.Join(ps.folder, agentName+"*"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		info, err := buildinfo.ReadFile(path)
		if err != nil || !isSameBuild(info, own) {
			ps.others = append(ps.others, filepath.Base(path))
			continue
		}
		if err := ps.add(info, path, agentName, ""); err != nil {
			return nil, err
		}
	}
	return ps, ps.add(own, executable, "mob", "agent")
}

// add adds a program, unless there is one for its platform.
func (ps *Programs) add(info *debug.BuildInfo, path, name, args string) error {
	pf := platform{setting(info, "GOOS"), setting(info, "GOARCH")}
	if ps.of(pf) != nil {
		return nil
	}
	p, err := newProgram(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	p.platform, p.name, p.args = pf, name, args
	ps.all = append(ps.all, p)
	return nil
}

// of returns the program for a platform, nil if there is none.
func (ps *Programs) of(pf platform) *program {
	i := slices.IndexFunc(ps.all, func(p *program) bool { return p.platform == pf })
	if i < 0 {
		return nil
	}
	return ps.all[i]
}

// missing says what to do about a platform for which there is no program.
func (ps *Programs) missing(pf platform) error {
	name := strings.Join([]string{agentName, pf.system, pf.arch}, "-")
	if slices.Contains(ps.others, name) {
		return fmt.Errorf("%s in %s is not of the same build as mob", name, ps.folder)
	}
	return fmt.Errorf("no program for %s: put %s of the same build into %s", pf, name, ps.folder)
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// isSameBuild reports whether two programs were built from the same source, as far as it is
// known.
func isSameBuild(a, b *debug.BuildInfo) bool {
	return a.Main.Path == b.Main.Path && a.Main.Version == b.Main.Version &&
		setting(a, "vcs.revision") == setting(b, "vcs.revision") && setting(a, "vcs.modified") == setting(b, "vcs.modified")
}

func newProgram(path string) (*program, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	length, err := strippedLength(f)
	if err != nil {
		return nil, err
	}
	id, err := buildID(f)
	if err != nil {
		return nil, err
	}
	if id == "" {
		id = rand.Text() // that of no program: it is brought to every host
	}
	sum := sha256.Sum256([]byte(id))
	return &program{
		path: path, marker: id, version: hex.EncodeToString(sum[:8]), length: length,
		archive: sync.OnceValues(func() (*archive, error) { return packFile(path) }),
	}, nil
}

// space is how much room a host needs for the program and its archive, in bytes.
func (p *program) space() int64 { return p.length + p.length/2 }

// buildID returns the build id that Go's linker wrote into a program, empty if there is none.
func buildID(r io.ReaderAt) (string, error) {
	start := make([]byte, markerRange)
	n, err := r.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	start = start[:n]
	id := quotedID(start)
	if f, err := elf.NewFile(r); err == nil {
		id = notedID(f)
	}
	if plain(id) == "" || !bytes.Contains(start, []byte(id)) {
		return "", nil
	}
	return id, nil
}

// quotedID returns the build id as it precedes the code of systems without ELF: see
// ReadFile in cmd/internal/buildid.
func quotedID(b []byte) string {
	_, b, found := bytes.Cut(b, []byte("\xff Go build ID: \""))
	id, _, end := bytes.Cut(b, []byte("\"\n \xff"))
	if !found || !end {
		return ""
	}
	return string(id)
}

// notedID returns the build id in a note of ELF, of Go's type 4.
func notedID(f *elf.File) string {
	for _, p := range f.Progs {
		if p.Type != elf.PT_NOTE || p.Filesz > markerRange {
			continue
		}
		b := make([]byte, p.Filesz)
		if _, err := p.ReadAt(b, 0); err != nil {
			continue
		}
		for len(b) >= 16 {
			name, desc, kind := f.ByteOrder.Uint32(b), f.ByteOrder.Uint32(b[4:]), f.ByteOrder.Uint32(b[8:])
			at := 12 + (uint64(name)+3)&^3
			end := at + (uint64(desc)+3)&^3
			if end > uint64(len(b)) {
				break
			}
			if kind == 4 && name == 4 && string(b[12:16]) == "Go\x00\x00" {
				return string(b[at : at+uint64(desc)])
			}
			b = b[end:]
		}
	}
	return ""
}
