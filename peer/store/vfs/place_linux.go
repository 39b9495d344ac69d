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

// aliases returns further paths of the file at a path without symbolic links, in other mounts of its file system.
// Other files may hide some of them. It returns none if the mounts are not known.
func aliases(path string) []string {
	mounts := readMounts()
	found := []string{path}
	for i := 0; i < len(found) && len(found) < maxAliases; i++ {
		for _, m := range mounts {
			below, ok := relative(found[i], m.at)
			if !ok {
				continue
			}
			for _, other := range mounts {
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

func readMounts() (mounts []mount) {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 4 {
			mounts = append(mounts, mount{device: f[2], root: unescape.Replace(f[3]), at: unescape.Replace(f[4])})
		}
	}
	return mounts
}
