package metadata

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// A Fetcher fetches the manifest, the info dictionary and the plan of the content. Its fields are
// constant.
type Fetcher struct {
	// Link names the content and the first peers to ask.
	Link *proto.Link
	// Description receives the documents.
	Description *Description
	// Finder asks trackers. It is nil if there are none.
	Finder Finder
	// Self is the id of this node, and Announce what it announces to the trackers.
	Self     peer.ID
	Announce proto.Announce
	// OpenStream opens a stream to a member. It bounds the dial itself.
	OpenStream func(context.Context, peer.AddrInfo, protocol.ID) (network.Stream, error)
	// Clients fetches the info dictionary from BitTorrent clients. If it is nil, they
	// are not asked.
	Clients func(context.Context, *proto.Link) ([]byte, error)
	// NotAsked returns the end of the status of a plain torrent: the reason for finding no clients, if any. It
	// may be nil.
	NotAsked func() string
	// Meet, if not nil, is called with the members that distant trackers name while the manifest is
	// being fetched.
	Meet func([]proto.Member)
	// Status is called with a text that describes what the fetch waits for.
	Status func(string)
	Log    *slog.Logger
}

const (
	// fetchPause is the first pause between rounds of Fetch, and fetchPauseMax the
	// longest.
	fetchPause    = 250 * time.Millisecond
	fetchPauseMax = 5 * time.Second
	// torrentPause and torrentPauseMax are the pauses of FetchTorrent, which is not
	// urgent.
	torrentPause    = time.Second
	torrentPauseMax = 30 * time.Second
)

// Fetch fetches the manifest, or the info dictionary of a plain torrent. It blocks until
// a member has it or ctx ends. It fails if a plain torrent is invalid, or the document cannot
// be written. It also returns the members that the trackers named last.
func (f *Fetcher) Fetch(ctx context.Context) (members []proto.Member, err error) {
	if f.Description.Plain() {
		return f.fetch(ctx, "the torrent's info dictionary", TorrentFile)
	}
	return f.fetch(ctx, "the content", ManifestFile)
}

// FetchPlan fetches the plan that the link names. It blocks until a member has it or ctx ends, and fails
// if the plan is invalid.
func (f *Fetcher) FetchPlan(ctx context.Context) error {
	_, err := f.fetch(ctx, "the plan of the transfer", PlanFile)
	return err
}

func (f *Fetcher) fetch(ctx context.Context, what, file string) (members []proto.Member, err error) {
	s := f.search(file, fetchPause, fetchPauseMax)
	run := s.run
	if file == TorrentFile {
		run = func(ctx context.Context) error { return f.fetchTorrent(ctx, s) }
	}
	var trackers string
	var again sync.WaitGroup
	var later []proto.Member
	searching, found := context.WithCancel(ctx)
	s.members = func(ctx context.Context) []peer.AddrInfo {
		asked := time.Now()
		members, trackers, s.excluded = f.askTrackers(ctx)
		if f.Meet != nil && s.excluded == nil && time.Since(asked) >= farTracker {
			again.Wait()
			again.Go(func() { // if many nodes start concurrently, the trackers know more of them by now
				if later, _, _ = f.askTrackers(searching); len(later) > 0 {
					f.Meet(later)
				}
			})
		}
		f.Status(fmt.Sprintf("looking for %s: %s", what, trackers))
		return f.candidates(members)
	}
	s.failed = func(err error) {
		notAsked := ""
		if file == TorrentFile && f.NotAsked != nil {
			notAsked = f.NotAsked()
		}
		f.Status(fmt.Sprintf("looking for %s: %s; %v%s", what, trackers, err, notAsked))
	}
	err = run(ctx)
	found()
	again.Wait()
	if len(later) > 0 {
		members = later
	}
	return members, err
}

// farTracker is the reply time above which trackers are distant. Members may be as distant.
const farTracker = 20 * time.Millisecond

// FetchTorrent fetches the info dictionary while the content itself is being fetched, so that this node can serve
// BitTorrent clients. It does not ask these: their connections belong to the swarm. It blocks until a member has the info
// dictionary or ctx ends. connected returns the connected peers, which are asked before members.
func (f *Fetcher) FetchTorrent(ctx context.Context, connected func() []peer.AddrInfo, members []proto.Member) {
	s := f.search(TorrentFile, torrentPause, torrentPauseMax)
	s.members = func(context.Context) []peer.AddrInfo { return append(connected(), f.candidates(members)...) }
	s.failed = func(err error) { f.Log.Debug("no info dictionary", "error", err) }
	_ = s.run(ctx)
}

// search returns a search for a document, without the members to ask.
func (f *Fetcher) search(file string, pause, pauseMax time.Duration) *search {
	s := &search{Fetcher: f, file: file, keys: f.Link.Keys(), pause: pause, pauseMax: pauseMax}
	if file == PlanFile {
		s.keys = []cid.Cid{f.Link.Plan}
	}
	s.take = func(b []byte) error { return f.Description.Set(file, b) }
	return s
}

// errFound ends a search because a BitTorrent client had the document.
var errFound = errors.New("found at a BitTorrent client")

// fetchTorrent searches for an info dictionary among members and BitTorrent clients at
// the same time.
func (f *Fetcher) fetchTorrent(ctx context.Context, s *search) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var clients sync.WaitGroup
	clients.Go(func() { f.askClients(ctx, s, cancel) })
	err := s.run(ctx)
	cancel(nil)
	clients.Wait()
	if errors.Is(err, errFound) {
		return nil
	}
	return err
}

func (f *Fetcher) askClients(ctx context.Context, s *search, cancel context.CancelCauseFunc) {
	if f.Clients == nil {
		return
	}
	info, err := f.Clients(ctx, f.Link)
	if err == nil {
		err = s.take(info)
	}
	switch {
	case err == nil:
		cancel(errFound)
	case isFinal(err):
		cancel(err)
	case ctx.Err() == nil:
		f.Log.Warn("no info dictionary from BitTorrent clients", "error", err)
	}
}

// askTrackers announces this node. status describes the result. excluded is not nil if the trackers
// are in a network, and this node is in none.
func (f *Fetcher) askTrackers(ctx context.Context) (members []proto.Member, status string, excluded error) {
	if f.Finder == nil {
		return nil, "the link names no tracker", nil
	}
	h, err := Announce(ctx, f.Finder, f.Link.Keys(), f.Announce)
	if isExcluded(err) {
		excluded = err
	}
	if err != nil {
		return nil, err.Error(), excluded
	}
	noun := "nodes"
	if len(h.Members) == 1 {
		noun = "node"
	}
	return h.Members, fmt.Sprintf("the tracker knows %d other %s", len(h.Members), noun), nil
}

// candidates orders the peers to ask: one local member, the link's peers, other local
// members, members of other sites. Local members are sorted by common parts of the cluster,
// and smaller ids precede: a node that is fetching the manifest itself makes only nodes with
// greater ids wait for it. Only one member may delay the request to the source.
func (f *Fetcher) candidates(members []proto.Member) []peer.AddrInfo {
	var smaller, greater [proto.MaxClusterParts + 1][]peer.AddrInfo // by parts that the clusters share
	var local, remote []peer.AddrInfo
	for i := range members {
		id, err := peer.IDFromBytes([]byte(members[i].ID))
		if err != nil || id == f.Self {
			continue
		}
		info := peer.AddrInfo{ID: id, Addrs: transport.ParseAddrs(members[i].Addrs)}
		switch shared := proto.SharedParts(f.Announce.Cluster, members[i].Cluster); {
		case shared == 0:
			remote = append(remote, info)
		case id < f.Self:
			smaller[shared] = append(smaller[shared], info)
		default:
			greater[shared] = append(greater[shared], info)
		}
	}
	for shared := proto.MaxClusterParts; shared > 0; shared-- {
		local = slices.Concat(local, shuffle(smaller[shared]), shuffle(greater[shared]))
	}
	first := min(1, len(local))
	return slices.Concat(local[:first], transport.AddrInfos(f.Link.Peers, f.Self), local[first:], remote)
}

func shuffle(infos []peer.AddrInfo) []peer.AddrInfo {
	rand.Shuffle(len(infos), func(i, j int) { infos[i], infos[j] = infos[j], infos[i] })
	return infos
}
