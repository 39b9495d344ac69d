package vfs

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// maxAliases bounds the other paths of a place.
const maxAliases = 64

// mount is a line of mountinfo, see proc(5).
type mount struct{ device, root, at string }

// mounts are the mounts of the process.
type mounts []mount

// below returns the paths below dir where something is mounted.
func (all mounts) below(dir string) (paths []string) {
	for _, m := range all {
		if rest, ok := relative(m.at, dir); ok && strings.Trim(rest, "/") != "" {
			paths = append(paths, m.at)
		}
	}
	return paths
}

// aliases returns further paths of the file at a path without symbolic links, in other mounts of its file system.
// Other files may hide some of them.
func (all mounts) aliases(path string) []string {
	found := []string{path}
	for i := 0; i < len(found) && len(found) < maxAliases; i++ {
		for _, m := range all {
			below, ok := relative(found[i], m.at)
			if !ok {
				continue
			}
			for _, other := range all {
				rest, ok := relative(filepath.Join(m.root, below), other.root)
				alias := filepath.Join(other.at, rest)
				if ok && other.device == m.device && !slices.Contains(found, alias) {
					found = append(found, alias)
				}
			}
		}
	}
	return found[1:]
}

// relative returns the part of a path below dir, with a leading slash. Both are absolute.
func relative(path, dir string) (string, bool) {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return rest, ok && (rest == "" || rest[0] == '/')
}

// mountTable is the open table of the process's mounts, and what was read from it.
var mountTable struct { //nolint:gochecknoglobals // the process has one
	sync.Mutex
	file *os.File // nil until it is opened
	all  mounts
}

// readMounts returns the mounts, none if they are not known. It reads the table again after a change only, which
// poll reports, see proc(5).
func readMounts() mounts {
	t := &mountTable
	t.Lock()
	defer t.Unlock()
	if t.file == nil {
		fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0) // os.Open would have the runtime poll it
		if err != nil {
			return nil
		}
		t.file = os.NewFile(uintptr(fd), "mountinfo")
	} else if n, err := unix.Poll([]unix.PollFd{{Fd: int32(t.file.Fd()), Events: unix.POLLPRI}}, 0); n == 0 && err == nil {
		return t.all
	}
	b, err := io.ReadAll(io.NewSectionReader(t.file, 0, math.MaxInt64))
	if err != nil {
		_, t.file = t.file.Close(), nil
		return nil
	}
	t.all = parseMounts(string(b))
	return t.all
}

// parseMounts returns the mounts of a file mountinfo.
func parseMounts(table string) (all mounts) {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 4 {
			all = append(all, mount{device: f[2], root: unescape.Replace(f[3]), at: unescape.Replace(f[4])})
		}
	}
	return all
}
