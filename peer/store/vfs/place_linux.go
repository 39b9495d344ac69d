package vfs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// readMounts returns the mounts, none if they are not known.
func readMounts() (all mounts) {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 4 {
			all = append(all, mount{device: f[2], root: unescape.Replace(f[3]), at: unescape.Replace(f[4])})
		}
	}
	return all
}
