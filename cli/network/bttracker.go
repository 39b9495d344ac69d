package network

import (
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/tracker/bittorrent"
)

// btTracker are the flags of tracker about BitTorrent clients.
type btTracker struct {
	listen   []string
	torrents string
	urls     []string                // once it runs
	reload   func() error            // nil before the start, and without --bt-listen
	stats    func() bittorrent.Stats // likewise
}

func (b *btTracker) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&b.listen, "bt-listen", nil, "ADDR:PORT to serve BitTorrent clients on, over HTTP; repeatable")
	f.StringVar(&b.torrents, "torrents", "",
		"file with the info-hashes that BitTorrent clients may use, one per line; all by default")
}

func (b *btTracker) check() error {
	if b.torrents != "" && len(b.listen) == 0 {
		return command.Usagef("--torrents is for BitTorrent clients: give --bt-listen as well")
	}
	for _, addr := range b.listen {
		if err := daemon.CheckBTListen(addr); err != nil {
			return command.Usagef("%w", err)
		}
	}
	return nil
}

// start runs the tracker, if it is asked for, and prints its announce URLs. stop
// ends it.
func (b *btTracker) start(env *command.Env, log *slog.Logger) (stop func(), err error) {
	if len(b.listen) == 0 {
		return func() {}, nil
	}
	s, err := bittorrent.Listen(b.listen, b.torrents, log)
	if err != nil {
		return nil, err
	}
	b.urls = daemon.AnnounceURLs(s.Addrs())
	for _, url := range b.urls {
		env.Note("BitTorrent announce URL: %s", url)
	}
	b.reload, b.stats = s.Reload, s.Stats
	return func() { s.Close() }, nil
}

// hangup reloads the list of torrents.
func (b *btTracker) hangup(log *slog.Logger) {
	if err := b.reload(); err != nil {
		log.Error("the list of torrents was not reloaded", "error", err)
	}
}
