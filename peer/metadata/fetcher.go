package metadata

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// Fetcher seeks what describes one content. All fields are constant.
type Fetcher struct {
	// Link names the content, and is where the search begins.
	Link *proto.Link
	// Description takes what is found.
	Description *Description
	// Finder knows trackers, and is nil when there are none.
	Finder Finder
	// Self is this node's id, and Announce what it tells the trackers of itself.
	Self     libpeer.ID
	Announce proto.Announce
	// OpenStream opens a stream to a member.
	OpenStream func(context.Context, libpeer.AddrInfo, protocol.ID) (network.Stream, error)
	// Clients asks BitTorrent clients for the info dictionary of a link. Nil means that
	// they are not asked.
	Clients func(context.Context, *proto.Link) ([]byte, error)
	// Status is told, in words, what is waited for.
	Status func(string)
	Log    *slog.Logger
}

const (
	// pause is the first pause between two rounds of asking what a content is, and
	// pauseMax the longest.
	pause    = 250 * time.Millisecond
	pauseMax = 5 * time.Second
	// offerPause and offerPauseMax are those for the info dictionary of a content that
	// is on its way already: without it only stock clients have to wait.
	offerPause    = time.Second
	offerPauseMax = 30 * time.Second
)

// Fetch seeks what the content is: its manifest, or of a plain torrent the info
// dictionary, until somebody has it or ctx ends. It returns also the members that it
// heard of. It fails at once with [*RefusedError].
func (s *Fetcher) Fetch(ctx context.Context) (members []proto.Member, err error) {
	what, q := "the content", s.manifest(func(_ libpeer.ID, b []byte) error { return s.Description.SetManifest(b) })
	seek := q.run
	if s.Description.Plain() {
		what, q = "the torrent's info dictionary", s.torrent()
		seek = func(ctx context.Context) error { return s.everywhere(ctx, q) }
	}
	var why string
	q.members = func(ctx context.Context) []libpeer.AddrInfo {
		members, why = s.askTrackers(ctx)
		s.Status(fmt.Sprintf("looking for %s: %s", what, why))
		return s.candidates(members)
	}
	q.missed = func(err error) { s.Status(fmt.Sprintf("looking for %s: %s; %v%s", what, why, err, s.unasked())) }
	q.pause, q.pauseMax = pause, pauseMax
	err = seek(ctx)
	return members, err
}

// FetchTorrent seeks the info dictionary of a content that is on its way, for BitTorrent
// clients, until somebody has it or ctx ends. connected are the peers.
func (s *Fetcher) FetchTorrent(ctx context.Context, connected func() []libpeer.AddrInfo, members []proto.Member) {
	q := s.torrent()
	q.members = func(context.Context) []libpeer.AddrInfo { return append(connected(), s.candidates(members)...) }
	q.missed = func(err error) { s.Log.Debug("no info dictionary", "error", err) }
	q.pause, q.pauseMax = offerPause, offerPauseMax
	_ = s.everywhere(ctx, q)
}

// FetchManifest asks each of some members once for the manifest with SHA-256, until take
// takes one.
func (s *Fetcher) FetchManifest(ctx context.Context, of []libpeer.AddrInfo, take func(from libpeer.ID, b []byte) error) error {
	q := s.manifest(take)
	q.members = func(context.Context) []libpeer.AddrInfo { return of }
	return q.round(ctx)
}

func (s *Fetcher) manifest(take func(libpeer.ID, []byte) error) *search {
	return &search{Fetcher: s, kind: proto.ManifestProtocol, limit: proto.MaxManifest, take: take}
}

func (s *Fetcher) torrent() *search {
	return &search{Fetcher: s, kind: proto.TorrentProtocol, limit: proto.MaxTorrent}
}

// ClientsNotAsked says, after what a plain torrent waits for, who is not asked for it.
const ClientsNotAsked = "; BitTorrent clients are not asked without --bt-listen"

func (s *Fetcher) unasked() string {
	if s.Clients == nil && s.Description.Plain() {
		return ClientsNotAsked
	}
	return ""
}

// errFound ends a search because what is sought has come by another way.
var errFound = errors.New("found elsewhere")

// everywhere searches for an info dictionary among members, and beside that asks
// BitTorrent clients.
func (s *Fetcher) everywhere(ctx context.Context, q *search) error {
	ctx, cancel := context.WithCancelCause(ctx)
	q.take = func(_ libpeer.ID, b []byte) error {
		err := s.Description.SetTorrent(b)
		var refused *RefusedError
		if errors.As(err, &refused) {
			cancel(refused)
		}
		return err
	}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		s.askGuests(ctx, q, cancel)
	}()
	err := q.run(ctx)
	cancel(nil)
	<-asked
	if errors.Is(err, errFound) {
		return nil
	}
	return err
}

func (s *Fetcher) askGuests(ctx context.Context, q *search, found context.CancelCauseFunc) {
	if s.Clients == nil {
		return
	}
	info, err := s.Clients(ctx, s.Link)
	if err == nil {
		err = q.take("", info)
	}
	switch {
	case err == nil:
		found(errFound)
	case ctx.Err() == nil:
		s.Log.Warn("no info dictionary from BitTorrent clients", "error", err)
	}
}

// askTrackers says in why how that went.
func (s *Fetcher) askTrackers(ctx context.Context) (members []proto.Member, why string) {
	if s.Finder == nil {
		return nil, "the link names no tracker"
	}
	h, err := Announce(ctx, s.Finder, s.Link.Keys(), s.Announce)
	if err != nil {
		return nil, err.Error()
	}
	return h.Members, fmt.Sprintf("the tracker knows %d other nodes", len(h.Members))
}

// candidates are whom to ask: a member of the own cluster, the link's peers, and then
// others. The first is any of those with lesser ids, if there are some: they have us wait
// when they seek the content too, others refuse. Only one has us wait before the source
// is asked.
func (s *Fetcher) candidates(members []proto.Member) []libpeer.AddrInfo {
	var lesser, greater, far []libpeer.AddrInfo
	for i := range members {
		id, err := libpeer.IDFromBytes([]byte(members[i].ID))
		if err != nil || id == s.Self {
			continue
		}
		info := libpeer.AddrInfo{ID: id, Addrs: transport.ParseAddrs(members[i].Addrs)}
		switch {
		case members[i].Cluster != s.Announce.Cluster:
			far = append(far, info)
		case id < s.Self:
			lesser = append(lesser, info)
		default:
			greater = append(greater, info)
		}
	}
	near := append(shuffled(lesser), shuffled(greater)...)
	first := min(1, len(near))
	return slices.Concat(near[:first], transport.AddrInfos(s.Link.Peers, s.Self), near[first:], far)
}

func shuffled(infos []libpeer.AddrInfo) []libpeer.AddrInfo {
	rand.Shuffle(len(infos), func(i, j int) { infos[i], infos[j] = infos[j], infos[i] })
	return infos
}
