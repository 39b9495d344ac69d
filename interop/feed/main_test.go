package feed_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/interop/workers"
	"github.com/mobgrid/mob/peer"
)

// worker is the environment variable with the configuration of a node in a separate process.
const worker = "MOB_FEED_WORKER"

func TestMain(m *testing.M) { workers.Main(worker, new(workerConfig), m) }

// workerConfig is the configuration of a node. The one without a tracker publishes feeds, and is the tracker. The remaining ones follow
// the feeds of Link and of lines on the standard input.
type workerConfig struct {
	workers.Node
	Link  string
	Feeds int // to publish
}

// event is a line on a worker's standard output. The first lines of the publisher have its address and the links. After that a line has
// the time at which a version was published or complete.
type event struct {
	Addr, Link string
	Seq        uint64
	At         time.Time
	Members    int
}

func (w *workerConfig) Run() error {
	n, stop, err := w.Start()
	if err != nil {
		return err
	}
	defer stop()
	out := json.NewEncoder(os.Stdout)
	complete := func(_ context.Context, _ string, v feed.Version) error {
		return out.Encode(event{Seq: v.Seq, At: time.Now()})
	}
	feeds, err := feed.Open(n, w.Data, complete, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer feeds.Close()
	follow := func(link string) error {
		dir := filepath.Join(w.Data+"-versions", fmt.Sprint(len(feeds.All())))
		return feeds.Follow(feed.Settings{Link: link, Dir: dir, Keep: 1, Exec: "true"})
	}
	for i := range w.Feeds {
		l := &feed.Link{}
		if err := feeds.New(fmt.Sprint("feed ", i), l); err != nil {
			return err
		}
		if err := out.Encode(event{Addr: n.Addrs()[0].String(), Link: l.String()}); err != nil {
			return err
		}
	}
	if w.Link != "" {
		if err := follow(w.Link); err != nil {
			return err
		}
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "magnet:") {
			if err := follow(lines.Text()); err != nil {
				return err
			}
			continue
		}
		var e event
		for _, info := range feeds.All() {
			e.Members += info.Members
		}
		if path := lines.Text(); path != "" {
			v, err := n.Seed(context.Background(), path, peer.SeedOptions{})
			if err == nil {
				err = v.Wait(context.Background())
			}
			if err != nil {
				return err
			}
			e.At = time.Now()
			h, err := feeds.Post(context.Background(), "feed 0", v, feed.PublishOptions{})
			if err != nil {
				return err
			}
			e.Seq = h.Seq
		}
		if err := out.Encode(e); err != nil {
			return err
		}
	}
	return nil
}
