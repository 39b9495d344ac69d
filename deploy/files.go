package deploy

import _ "embed" // for Config

// Config is the configuration of mobd that packages install. `mob join` may overwrite it.
//
//go:embed packages/mobd.toml
var Config []byte
