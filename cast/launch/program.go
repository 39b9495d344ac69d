package launch

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// agentName is the name of the program. Programs for other platforms have the suffix -SYSTEM-ARCH.
const agentName = "mob-agent"

// Programs holds the program for each platform.
type Programs struct {
	dir   string // directory of the executable
	all   []*program
	stale []string // names of programs of another build
}

// program is the program for the hosts of a platform.
type program struct {
	platform string // GOOS/GOARCH
	path     string
	name     string // on the host
	args     string
	size     int64  // of the file, in bytes
	length   int64  // of its stripped form, see [strip]
	built    string // SHA-256 of the file, in hexadecimal
	stripped string // SHA-256 of its stripped form
	archive  func() (*archive, error)
}

// Find returns the programs for an executable of mob: the files mob-agent and mob-agent-SYSTEM-ARCH of the same build beside it.
// Without one for its own platform, the program is the executable with the argument "agent".
func Find(executable string) (*Programs, error) {
	own, err := buildinfo.ReadFile(executable)
	if err != nil {
		return nil, err
	}
	ps := &Programs{dir: filepath.Dir(executable)}
	names, _ := fs.Glob(os.DirFS(ps.dir), agentName+"*") // the pattern is right
	for _, name := range names {
		path := filepath.Join(ps.dir, name)
		info, err := buildinfo.ReadFile(path)
		if err != nil || !isSameBuild(info, own) {
			ps.stale = append(ps.stale, name)
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
	platform := setting(info, "GOOS") + "/" + setting(info, "GOARCH")
	if ps.of(platform) != nil {
		return nil
	}
	p, err := newProgram(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	p.platform, p.name, p.args = platform, name, args
	ps.all = append(ps.all, p)
	return nil
}

// of returns the program for a platform, or nil.
func (ps *Programs) of(platform string) *program {
	i := slices.IndexFunc(ps.all, func(p *program) bool { return p.platform == platform })
	if i < 0 {
		return nil
	}
	return ps.all[i]
}

// missing returns the error for a platform without a program.
func (ps *Programs) missing(platform string) error {
	name := agentName + "-" + strings.ReplaceAll(platform, "/", "-")
	if slices.Contains(ps.stale, name) {
		return fmt.Errorf("%s in %s is not of the same build as mob", name, ps.dir)
	}
	return fmt.Errorf("no program for %s: put %s of the same build into %s", platform, name, ps.dir)
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// isSameBuild reports whether two programs were built from the same source, as far as it is known.
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
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p := &program{
		path: path, size: info.Size(),
		archive: sync.OnceValues(func() (*archive, error) { return packFile(path) }),
	}
	if p.built, err = hexSum(io.NewSectionReader(f, 0, p.size)); err != nil {
		return nil, err
	}
	program, length, err := strip(f)
	if err != nil {
		return nil, err
	}
	p.length = length
	p.stripped, err = hexSum(program)
	return p, err
}

// hexSum returns the SHA-256 of the data of r, in hexadecimal.
func hexSum(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// version is part of the name of the program in the cache of a host.
func (p *program) version() string { return p.stripped[:16] }

// space returns the free space in bytes that a host needs for the program and its archive.
func (p *program) space() int64 { return max(p.size, p.length+p.length/2) }
