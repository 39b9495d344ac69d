package tracker

import (
	"cmp"
	"log/slog"
	"time"
)

// Config is the configuration of a front end. All fields but Seed are set.
type Config struct {
	// Log receives failed requests at level debug, and start and stop at level
	// info.
	Log *slog.Logger
	// Expiry is the time from the last announce of a member to its removal. 90 s.
	Expiry time.Duration
	// Interval is the announce interval of members, before jitter. It is at most
	// a third of Expiry, so that two announces may be lost. 30 s.
	Interval time.Duration
	// Timeout bounds one stream from its first byte to the reply's last. 10 s.
	Timeout time.Duration
	// MaxSwarms bounds the swarms. Like of the members and streams below, one address
	// may have as many as are free: half of them if it is alone. 10,000.
	MaxSwarms int
	// MaxSwarmMembers bounds the members of one swarm. 20,000.
	MaxSwarmMembers int
	// MaxMembers bounds the members of all swarms together. Each takes at most
	// 2.6 KiB. 200,000.
	MaxMembers int
	// MaxStreams bounds the concurrent streams; more are reset. 4096.
	MaxStreams int
	// Seed makes replies and jitter repeatable; zero draws a random one.
	Seed uint64
}

// Default is the configuration of a [Server], with a log unless that is nil.
func Default(log *slog.Logger) Config {
	return Config{
		Log:             cmp.Or(log, slog.New(slog.DiscardHandler)),
		Expiry:          90 * time.Second,
		Interval:        30 * time.Second,
		Timeout:         10 * time.Second,
		MaxSwarms:       10_000,
		MaxSwarmMembers: 20_000,
		MaxMembers:      200_000,
		MaxStreams:      4096,
	}
}

// ClientConfig is the configuration of a [Client].
type ClientConfig struct {
	// Log receives failed requests at level debug. Nil means no log.
	Log *slog.Logger
	// Timeout bounds a request, including the dial. 5 s if it is zero.
	Timeout time.Duration
	// Grace is the time that a call waits for the remaining trackers after the first reply. 300 ms if it
	// is zero.
	Grace time.Duration
}

func (c ClientConfig) withDefaults() ClientConfig {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	c.Grace = cmp.Or(c.Grace, 300*time.Millisecond)
	return c
}
