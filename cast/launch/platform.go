package launch

import "strings"

// platform is a system and an architecture, as Go names them.
type platform struct{ system, arch string }

func (p platform) String() string { return p.system + "/" + p.arch }

// systemName is what `uname -s` says of a system, archNames what `uname -m` may say of an architecture.
func systemName(goos string) string {
	switch goos {
	case "linux":
		return "Linux"
	case "darwin":
		return "Darwin"
	case "freebsd":
		return "FreeBSD"
	case "netbsd":
		return "NetBSD"
	case "openbsd":
		return "OpenBSD"
	}
	return goos
}

func archNames(goarch string) []string {
	switch goarch {
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
	return []string{goarch}
}

// unames are what `uname -sm` may say of the platform.
func (p platform) unames() []string {
	var names []string
	for _, arch := range archNames(p.arch) {
		names = append(names, systemName(p.system)+" "+arch)
	}
	return names
}

// parseUname returns the platform of which `uname -sm` says this. One that is not known keeps the names
// that it has there.
func parseUname(uname string) platform {
	system, arch, _ := strings.Cut(uname, " ")
	for _, goos := range []string{"linux", "darwin", "freebsd", "netbsd", "openbsd"} {
		if systemName(goos) == system {
			system = goos
		}
	}
	for _, goarch := range []string{"amd64", "arm64", "386", "arm", "loong64"} {
		for _, name := range archNames(goarch) {
			if name == arch {
				arch = goarch
			}
		}
	}
	return platform{system, arch}
}
