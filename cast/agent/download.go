package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/dustin/go-humanize"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// download is the job of a host that gets a file or a folder.
type download struct {
	place
	node     *peer.Node
	link     *proto.Link
	manifest []byte // nil if it is to be asked for
	transfer atomic.Pointer[peer.Transfer]
	whole    atomic.Bool
}

func newDownload(n *peer.Node, s *Start) (job, error) {
	link, err := proto.ParseLink(s.Link)
	if err != nil {
		return nil, err
	}
	d := &download{node: n, link: link, manifest: s.Manifest}
	d.place, err = newPlace(s, link.Name)
	return d, err
}

// place is where a file or a folder goes.
type place struct {
	dest    string // absolute
	force   bool
	existed bool   // something was at dest before
	parent  string // the topmost folder above dest that is not there yet, or empty
}

func newPlace(s *Start, name string) (p place, err error) {
	p.force = s.Force
	if p.dest, err = destination(s.Dest, name); err != nil {
		return p, err
	}
	_, err = os.Lstat(p.dest)
	p.existed = err == nil
	p.parent = missing(filepath.Dir(p.dest))
	return p, nil
}

// destination returns the absolute path of a content, see [Start.Dest].
func destination(dest, name string) (string, error) {
	info, err := os.Stat(dest)
	switch {
	case dest == "":
		dest = name
	case strings.HasSuffix(dest, "/") || err == nil && info.IsDir():
		if name == "" {
			return "", fmt.Errorf("%s is a folder: name the file", dest)
		}
		dest = filepath.Join(dest, name)
	}
	return filepath.Abs(dest)
}

// missing returns the topmost folder on the way to dir that is not there, empty if dir is.
func missing(dir string) (top string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return top
		}
		top = dir
	}
}

// removeEmpty removes folders that were made on the way to path, as far as nothing is in them.
func removeEmpty(path, top string) {
	if top == "" {
		return
	}
	for dir := filepath.Dir(path); len(dir) >= len(top); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			return
		}
	}
}

// run implements [job].
func (d *download) run(ctx context.Context) error {
	t, err := d.node.Get(d.link, d.dest, peer.GetOptions{Reuse: d.force, Manifest: d.manifest})
	if err != nil {
		return d.explain(err)
	}
	d.transfer.Store(t)
	if err := t.Wait(ctx); err != nil {
		return d.explain(err)
	}
	if err := t.Flush(ctx); err != nil {
		return d.explain(err)
	}
	d.whole.Store(true)
	return nil
}

// explain puts an error in the words of a cast, of which nothing is kept.
func (p *place) explain(err error) error {
	var exists *store.ExistsError
	var room *peer.NoRoomError
	switch {
	case errors.As(err, &exists) && !p.force:
		return errExists(p.dest)
	case errors.As(err, &room):
		return fmt.Errorf("%s needs %s and the disk has less free: make room, or choose another path", p.dest,
			humanize.Bytes(uint64(room.Need))) // how much less is not the same on all hosts
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return explainWrite(p.dest, err)
	}
	return err
}

// progress implements [job].
func (d *download) progress() (p Progress) {
	if t := d.transfer.Load(); t != nil {
		st := t.Progress()
		p.Waiting = st.Waiting
		if st.Phase == peer.Seeking {
			p.Waiting = "the manifest"
		}
		if st.Phase != peer.Checking {
			p.Bytes = st.Have
		}
		p.Overwriting = d.existed && !d.whole.Load()
	}
	return p
}

// order implements [job]. A content comes without.
func (d *download) order(*Order) {}

// close implements [job]. What was at the destination before is left, though parts of it may be
// overwritten.
func (d *download) close() error {
	if d.whole.Load() {
		return nil
	}
	var err error
	if t := d.transfer.Load(); t != nil && !d.existed {
		_, err = d.node.Remove(t, true)
	}
	removeEmpty(d.dest, d.parent)
	return err
}
