package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/proto"
)

// content is an argument that names a content: a link, a content id or a path.
type content struct {
	name string      // as the daemon takes it
	link *proto.Link // nil when the argument is not a link
}

// parseContent parses an argument, after readArg.
func parseContent(g *command.App, text string) (content, error) {
	text, err := readArg(g, text)
	if err != nil {
		return content{}, err
	}
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

// readArg reads an argument from elsewhere, so that a link is not among the arguments
// that other users see: from standard input if it is -, or from a file if it is @PATH.
// Other arguments are as they are.
func readArg(g *command.App, text string) (string, error) {
	from := "standard input"
	var in io.Reader
	switch path, ok := strings.CutPrefix(text, "@"); {
	case text == "-":
		in = g.In
	case ok:
		f, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("cannot read the link: %w", err)
		}
		defer f.Close()
		from, in = path, f
	default:
		return text, nil
	}
	b, err := io.ReadAll(io.LimitReader(in, proto.MaxLink+2))
	if err != nil {
		return "", fmt.Errorf("cannot read the link: %w", err)
	}
	line := strings.TrimSpace(string(b))
	if line == "" || strings.ContainsAny(line, "\r\n") {
		return "", fmt.Errorf("%s does not have one line with a link", from)
	}
	return line, nil
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
