package bittorrent

import (
	"cmp"
	"log/slog"
	"time"
)

// Config is the configuration of a [Server]. A field that is zero takes its value
// from [Default].
type Config struct {
	// Log receives failed requests at level debug, and what an operator should know
	// above. Nil means no log.
	Log *slog.Logger
	// Torrents is the path of a list of the torrents to serve; see [Server.Reload].
	// Empty means all.
	Torrents string
	// Interval is the announce interval of clients, before jitter. 10 min, which is
	// the least that rTorrent accepts.
	Interval time.Duration
	// Expiry is how long a peer stays known after its last announce. 25 min, so that
	// one announce may be lost and the next late.
	Expiry time.Duration
	// MaxTorrents bounds the torrents. 100,000.
	MaxTorrents int
	// MaxTorrentPeers bounds the peers of one torrent. 50,000.
	MaxTorrentPeers int
	// MaxPeers bounds the peers of all torrents together. 500,000.
	MaxPeers int
	// MaxHostPeers bounds the peers of one IPv4 address or IPv6 /64, over all
	// torrents: clients may share an address, but one must not fill the table. 4,096.
	MaxHostPeers int
	// MaxConns bounds the HTTP connections of one listener; more are closed. 2,048.
	MaxConns int
	// Seed makes samples and jitter repeatable; zero draws a random one.
	Seed uint64
}

// Default is the configuration of a public tracker.
func Default() Config {
	return Config{
		Log:             slog.New(slog.DiscardHandler),
		Interval:        10 * time.Minute,
		Expiry:          25 * time.Minute,
		MaxTorrents:     100_000,
		MaxTorrentPeers: 50_000,
		MaxPeers:        500_000,
		MaxHostPeers:    4096,
		MaxConns:        2048,
	}
}

// withDefaults is c with the default of each field that is not set.
func (c Config) withDefaults() Config {
	d := Default()
	c.Log = cmp.Or(c.Log, d.Log)
	c.Interval = cmp.Or(c.Interval, d.Interval)
	c.Expiry = cmp.Or(c.Expiry, d.Expiry)
	c.MaxTorrents = cmp.Or(c.MaxTorrents, d.MaxTorrents)
	c.MaxTorrentPeers = cmp.Or(c.MaxTorrentPeers, d.MaxTorrentPeers)
	c.MaxPeers = cmp.Or(c.MaxPeers, d.MaxPeers)
	c.MaxHostPeers = cmp.Or(c.MaxHostPeers, d.MaxHostPeers)
	c.MaxConns = cmp.Or(c.MaxConns, d.MaxConns)
	return c
}
