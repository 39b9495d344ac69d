package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// serving is the [job] of a gather: the caster gets the content from the node.
type serving struct {
	node     *peer.Node
	start    *Start
	hashed   atomic.Int64
	transfer *peer.Transfer // set by run
}

// run implements [job].
func (s *serving) run(ctx context.Context) (err error) {
	if _, err := os.Stat(s.start.Serve); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist", s.start.Serve)
	}
	path, err := vfs.Abs(s.start.Serve)
	if err != nil {
		return err
	}
	s.transfer, err = s.node.Seed(ctx, path, peer.SeedOptions{
		ManifestName: s.start.Name,
		FollowLinks:  s.start.FollowLinks,
		Progress:     func(done, _ int64) { s.hashed.Store(done) },
	})
	return err
}

// served returns the report of the content after run.
func (s *serving) served() *Served {
	is := &Served{Content: s.transfer.ID.String(), Length: s.transfer.Manifest().Length()}
	if b := s.transfer.Description().EncodedManifest(); len(b) <= MaxManifest {
		is.Manifest = b
	}
	return is
}

// progress implements [job].
func (s *serving) progress() Progress { return Progress{Bytes: s.hashed.Load()} }

// close implements [job].
func (s *serving) close() error { return nil }
