package cast

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ipfs/go-cid"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/cast/agent"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// Outputs returns the absolute path of the copy of each host in a gather, or nil for a cast. It fails if two hosts have the same path,
// or a host has a path below the path of another host.
func Outputs(cfg Config) (paths []string, err error) {
	if cfg.Output == "" {
		return nil, nil
	}
	for _, h := range cfg.Hosts {
		path, err := h.Expand(cfg.Output)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(cfg.Output, "/") {
			name := filepath.Base(cfg.Source)
			if strings.Trim(name, "./") == "" {
				return nil, fmt.Errorf("%q has no name: give a path without a slash at its end", cfg.Source)
			}
			path += name
		}
		if path, err = vfs.Abs(path); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	sorted := slices.Clone(paths)
	slices.SortFunc(sorted, func(a, b string) int { return strings.Compare(a+"/", b+"/") })
	for i := 1; i < len(sorted); i++ {
		if path, before := sorted[i], sorted[i-1]; strings.HasPrefix(path+"/", before+"/") {
			return nil, fmt.Errorf("%q does not give each host its own path: %s and %s", cfg.Output, before, path)
		}
	}
	return paths, nil
}

// gatherName returns the name in the manifest of a host. Equal content of two hosts thus has two ids, and each is a transfer.
func gatherName(host string) string { return fmt.Sprintf("%.16x", sha256.Sum256([]byte(host))) }

// gatherDir returns the directory of the caster's node: in the directory that contains all copies. It remains until these are
// complete, and the same gather resumes them.
func gatherDir(output string) string {
	fixed, _, _ := strings.Cut(output, "%")
	above, _ := vfs.Abs(fixed[:strings.LastIndex(fixed, "/")+1]) // Outputs has returned its error
	return filepath.Join(above, fmt.Sprintf(".mob-gather-%.4x", sha256.Sum256([]byte(output))))
}

func startGatherNode(cfg *Config) (*node, error) {
	dir := gatherDir(cfg.Output)
	parent := agent.Missing(filepath.Dir(dir))
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return nil, err
	}
	earlier := os.Mkdir(dir, 0o700) // not nil if an earlier gather has left its state
	if earlier != nil && !errors.Is(earlier, os.ErrExist) {
		return nil, earlier
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() { // the state behind a link is elsewhere
		return nil, fmt.Errorf("%s is not the directory of an earlier gather: move it away", dir)
	}
	n, err := startNodeIn(dir, cfg)
	n.parent = parent
	if _, inUse := errors.AsType[*datadir.InUseError](err); inUse {
		return nil, fmt.Errorf("another gather copies to %s: wait for its end", cfg.Output)
	}
	if err != nil && earlier == nil {
		err = errors.Join(err, n.close())
	}
	return n, err
}

// resumable reports whether some copy of a gather is incomplete, or complete while the content of another host is not known: the
// same gather leaves the complete ones as they are.
func (c *caster) resumable() bool {
	all := c.node.Transfers()
	return c.cfg.Output != "" && (slices.ContainsFunc(all, func(t *peer.Transfer) bool { return !complete(t) }) ||
		len(all) > 0 && slices.ContainsFunc(c.hosts, func(h *host) bool { return !h.answered }))
}

// complete reports whether a copy is complete, in this gather or an earlier one. Then its transfer is stopped, and does not touch it.
func complete(t *peer.Transfer) bool { return t.Progress().Phase == peer.Stopped }

// takeServed handles a report in a gather, except Ready. It fails if the report is invalid.
func (h *host) takeServed(r *agent.Report) error {
	switch {
	case r.Progress != nil:
		h.hashing(r.Progress.Bytes)
	case r.Served != nil:
		return h.fetch(r.Served)
	case r.Failed != nil:
		h.mu.Lock()
		h.answered = h.answered || h.ctx.Err() == nil // else it may have failed because it had to end
		h.mu.Unlock()
		h.settle(Failed, agent.Line(r.Failed.Error), 0)
	default:
		return errors.New("the host sent an invalid report")
	}
	return nil
}

// hashing records the number of bytes that the agent has hashed.
func (h *host) hashing(bytes int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.is.settled() || h.answered {
		return
	}
	if bytes > h.moved {
		h.moved, h.is.Moved = bytes, time.Now()
	}
	h.is.Waiting, h.changed = "its hashes", true
}

// fetch starts to fetch the content that the agent serves. A later report of the same agent is ignored. It fails if the report is
// invalid.
func (h *host) fetch(s *agent.Served) error {
	id, err := cid.Decode(s.Content)
	if err != nil || s.Length < 0 {
		return errors.New("the host sent an invalid Served report")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.answered {
		return nil
	}
	h.answered, h.moved, h.is.Length, h.is.Waiting = true, 0, s.Length, ""
	peers, _ := libpeer.AddrInfoToP2pAddrs(&h.node) // a Ready has a valid id
	link := &proto.Link{Manifest: id, Peers: peers}
	h.caster.fetches.Go(func() {
		t, err := h.get(link, s.Manifest)
		if err == nil {
			err = h.await(t)
		}
		if err != nil {
			h.fail(h.explain(err))
			return
		}
		if h.settle(Done, "", 0) {
			_ = t.Stop() // otherwise the next gather compares it
		}
	})
	return nil
}

// get starts the transfer of a copy, or resumes it. It replaces a part of older content, and returns the transfer of a complete copy
// as it is.
func (h *host) get(link *proto.Link, manifest []byte) (*peer.Transfer, error) {
	n := h.caster.node
	if old, err := n.Transfer(h.output); err == nil {
		_, err = os.Lstat(h.output)
		switch here := err == nil && complete(old); {
		case here && old.ID == link.Manifest:
			return old, nil
		case here:
			return nil, &store.ExistsError{Path: h.output}
		case old.ID != link.Manifest:
			if _, err := n.Remove(old, true); err != nil {
				return nil, err
			}
		}
	}
	return n.Get(link, h.output, peer.GetOptions{Manifest: manifest})
}

// await waits until a copy is on the disk.
func (h *host) await(t *peer.Transfer) error {
	for {
		ctx, cancel := context.WithTimeout(h.ctx, lookEvery)
		err := t.Flush(ctx)
		over := ctx.Err() == nil || h.ctx.Err() != nil
		cancel()
		if complete(t) { // of an earlier gather
			err = nil
		}
		st := t.Progress()
		p := agent.ProgressOf(st)
		p.WAN, p.LAN = st.Traffic.WANIn, st.Traffic.LANIn
		if parts := proto.ClusterParts(h.is.Cluster); parts > 1 && h.is.Cluster == h.caster.node.Cluster() {
			p.Rack = p.LAN
		}
		h.progress(p)
		switch {
		case over:
			h.caster.source.droppedBits.Add(int64(st.DroppedBits))
			return err
		case st.SourceChanged:
			return fmt.Errorf("%s was changed while it was gathered", h.caster.cfg.Source)
		}
	}
}

// explain returns an error that names the copy as the user did, so that hosts with the same error have the same text.
func (h *host) explain(err error) error {
	text, output := err.Error(), h.caster.cfg.Output
	if exists, ok := errors.AsType[*store.ExistsError](err); ok {
		text = exists.Path + " exists already: remove it or choose another path"
	}
	if strings.HasSuffix(output, "/") {
		output += filepath.Base(h.output)
	}
	return errors.New(strings.ReplaceAll(text, h.output, output))
}
