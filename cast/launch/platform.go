package launch

import (
	"slices"
	"strings"
)

// platform is a system and an architecture, as GOOS and GOARCH.
type platform struct{ system, arch string }

func (p platform) String() string { return p.system + "/" + p.arch }

// unameWords returns the words in the output of `uname -sm` for a GOOS or GOARCH.
func unameWords(name string) []string {
	switch name {
	case "linux":
		return []string{"Linux"}
	case "darwin":
		return []string{"Darwin"}
	case "freebsd":
		return []string{"FreeBSD"}
	case "netbsd":
		return []string{"NetBSD"}
	case "openbsd":
		return []string{"OpenBSD"}
	case "amd64":
		return []string{"x86_64", "amd64"}
	case "arm64":
		return []string{"aarch64", "arm64"}
	case "386":
		return []string{"i686", "i386", "i586"}
	case "arm":
		return []string{"armv7l", "armv6l", "armv8l"}
	case "loong64":
		return []string{"loongarch64"}
	}
	return []string{name}
}

// unames returns the possible outputs of `uname -sm`.
func (p platform) unames() (all []string) {
	for _, arch := range unameWords(p.arch) {
		all = append(all, unameWords(p.system)[0]+" "+arch)
	}
	return all
}

// parseUname returns the platform for an output of `uname -sm`. Unknown words remain as they are.
func parseUname(uname string) platform {
	system, arch, _ := strings.Cut(uname, " ")
	p := platform{system, arch}
	for _, name := range []string{"linux", "darwin", "freebsd", "netbsd", "openbsd", "amd64", "arm64", "386", "arm", "loong64"} {
		switch words := unameWords(name); {
		case slices.Contains(words, system):
			p.system = name
		case slices.Contains(words, arch):
			p.arch = name
		}
	}
	return p
}
