package peer

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ipfs/go-cid"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
)

// fetchManifestTimeout bounds the search for a manifest that another member has made.
const fetchManifestTimeout = 30 * time.Second

var (
	errOtherID = errors.New("not the manifest that the link names")
	errNoneYet = errors.New("no peer has the manifest that the link names")
)

// publishManifest gives a plain torrent that is whole its manifest with SHA-256, for later
// members: the one of another member, if it matches the content, or a new one.
func (t *Transfer) publishManifest(s *swarm.Swarm, c content) {
	if t.manifestPublished() {
		return
	}
	log := t.node.log.With("content", t.ID.String())
	id, err := t.makeManifest(s, c)
	if err == nil {
		err = t.setManifestID(id)
	}
	if s.Context().Err() != nil {
		return
	}
	if err != nil {
		log.Warn("manifest with SHA-256 not published", "error", err)
		return
	}
	log.Info("manifest with SHA-256 published", "manifest", id.String())
	s.AnnounceSoon()
}

// manifestPublished reports whether the transfer has a manifest with SHA-256.
func (t *Transfer) manifestPublished() bool {
	b, err := t.Description().EncodedManifest()
	if err != nil {
		return false
	}
	id := proto.ManifestCID(b)
	if !t.Link().Manifest.Defined() { // the node closed in between
		err = t.setManifestID(id)
	}
	return err == nil && t.Link().Manifest.Equals(id)
}

// makeManifest fetches or makes the manifest, keeps it, and returns its id.
func (t *Transfer) makeManifest(s *swarm.Swarm, c content) (cid.Cid, error) {
	log := t.node.log.With("content", t.ID.String())
	m, err := c.verifier.FullManifest(s.Context(), c.store, store.ScanOptions{})
	if err != nil {
		return cid.Undef, err
	}
	wanted := t.Link().Manifest
	take := func(from libpeer.ID, b []byte) error {
		if wanted.Defined() && !wanted.Equals(proto.ManifestCID(b)) {
			return errOtherID
		}
		other, err := proto.DecodeManifest(b)
		if err == nil {
			err = c.verifier.Compare(other)
		}
		if err != nil {
			log.Warn("manifest dropped", "peer", from, "error", err)
			return err
		}
		m = other
		return nil
	}
	ctx, cancel := context.WithTimeout(s.Context(), fetchManifestTimeout)
	defer cancel()
	if err := t.fetcher(nil).FetchManifest(ctx, s.Connected(), take); err != nil {
		log.Debug("no manifest fetched", "error", err)
	}
	b, err := m.Encode()
	if err != nil {
		return cid.Undef, err
	}
	if wanted.Defined() && !wanted.Equals(proto.ManifestCID(b)) {
		return cid.Undef, errNoneYet
	}
	return proto.ManifestCID(b), t.Description().PublishManifest(b)
}

// setManifestID adds the manifest's id to the link, and the node's trackers: a magnet link of
// BitTorrent has none for nodes.
func (t *Transfer) setManifestID(id cid.Cid) error {
	m := t.Manifest()
	return t.update(func(r *metadata.Record) {
		link := *r.Link
		link.Manifest, link.Name, link.Length = id, cmp.Or(link.Name, m.Name), m.Length()
		if all := t.node.trackers(link.Trackers); len(all) <= proto.MaxLinkAddrs {
			link.Trackers = all
		}
		r.Link = &link
	})
}
