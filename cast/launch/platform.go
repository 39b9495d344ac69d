package launch

import (
	"slices"
	"strings"
)

// unameTable contains each GOOS or GOARCH, and the words for it in the output of `uname -sm`.
func unameTable() [][]string {
	return [][]string{
		{"linux", "Linux"}, {"darwin", "Darwin"}, {"freebsd", "FreeBSD"}, {"netbsd", "NetBSD"}, {"openbsd", "OpenBSD"},
		{"amd64", "x86_64", "amd64"}, {"arm64", "aarch64", "arm64"}, {"386", "i686", "i386", "i586"},
		{"arm", "armv7l", "armv6l", "armv8l"}, {"loong64", "loongarch64"},
	}
}

// unameWords returns the words for a GOOS or GOARCH.
func unameWords(name string) []string {
	for _, row := range unameTable() {
		if row[0] == name {
			return row[1:]
		}
	}
	return []string{name}
}

// unames returns the possible outputs of `uname -sm` on a platform, GOOS/GOARCH.
func unames(platform string) (all []string) {
	system, arch, _ := strings.Cut(platform, "/")
	for _, word := range unameWords(arch) {
		all = append(all, unameWords(system)[0]+" "+word)
	}
	return all
}

// parseUname returns the platform for an output of `uname -sm`. Unknown words remain as they are.
func parseUname(uname string) (platform string) {
	system, arch, _ := strings.Cut(uname, " ")
	for _, row := range unameTable() {
		switch {
		case slices.Contains(row[1:], system):
			system = row[0]
		case slices.Contains(row[1:], arch):
			arch = row[0]
		}
	}
	return system + "/" + arch
}
