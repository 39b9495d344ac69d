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

// publishWait bounds the search for a manifest that another member has made already.
const publishWait = 30 * time.Second

var (
	errOtherID = errors.New("it is not the manifest that the link names")
	errNoneYet = errors.New("nobody has the manifest that the link names")
)

// publish gives a plain torrent that is whole here its manifest with SHA-256, for
// those who come later: the one that another member has, if the content is as that
// says, or one of its own making.
func (t *Transfer) publish(s *swarm.Swarm, c content) {
	if t.published() {
		return
	}
	log := t.node.log.With("content", t.ID.String())
	id, err := t.makeManifest(s, c)
	if err == nil {
		err = t.name(id)
	}
	if s.Context().Err() != nil {
		return
	}
	if err != nil {
		log.Warn("no manifest with SHA-256 for those who come later", "error", err)
		return
	}
	log.Info("manifest with SHA-256 published", "manifest", id.String())
	s.AnnounceSoon()
}

// published says that the manifest is there.
func (t *Transfer) published() bool {
	b, err := t.Description().EncodedManifest()
	if err != nil {
		return false
	}
	id := proto.ManifestCID(b)
	if !t.Link().Manifest.Defined() { // there was no time for that before
		err = t.name(id)
	}
	return err == nil && t.Link().Manifest.Equals(id)
}

// makeManifest finds or makes the manifest, keeps it, and returns its id.
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
	ctx, cancel := context.WithTimeout(s.Context(), publishWait)
	defer cancel()
	if err := t.fetcher(nil).FetchManifest(ctx, s.Connected(), take); err != nil {
		log.Debug("no manifest of others", "error", err)
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

// name puts the manifest's id into the link, and what makes that of use elsewhere: a
// link of BitTorrent's names no trackers of mob.
func (t *Transfer) name(id cid.Cid) error {
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
