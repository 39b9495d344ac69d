package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/proto"
)

// content is an argument that names a content: a link, a content id or a path.
type content struct {
	name string      // as the daemon takes it
	link *proto.Link // nil when the argument is not a link
}

func parseContent(text string) (content, error) {
	if strings.HasPrefix(text, "magnet:") {
		link, err := proto.ParseLink(text)
		return content{text, link}, err
	}
	if _, err := cid.Decode(text); err == nil {
		if _, err := os.Lstat(text); errors.Is(err, os.ErrNotExist) {
			return content{name: text}, nil
		}
	}
	path, err := filepath.Abs(text)
	return content{name: path}, err
}

// find asks the daemon for the link of a content.
func (c *content) find(ctx context.Context, s *session) error {
	st, err := s.Transfer(ctx, c.name)
	if err != nil {
		return err
	}
	c.link, err = proto.ParseLink(st.Link)
	return err
}
