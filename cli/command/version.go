package command

import "runtime/debug"

// Version returns the version of the module: a release, or a pseudo-version with the commit.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}
