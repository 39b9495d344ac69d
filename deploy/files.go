package deploy

import "embed"

// Files are the units of a node and the configuration that packages install, for `mob join`.
//
//go:embed systemd/mobd.service systemd/mobd.socket packages/mobd.toml
var Files embed.FS
