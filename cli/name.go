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

// content is how an argument names a content.
type content struct {
	name string      // as the daemon takes it
	link *proto.Link // nil when the argument is no link
}

// parseContent reads a link, a content id, or the path of a content.
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

// find completes c by the link that the daemon knows.
func (c *content) find(ctx context.Context, s *session) error {
	st, err := s.Transfer(ctx, c.name)
	if err != nil {
		return err
	}
	c.link, err = proto.ParseLink(st.Link)
	return err
}
