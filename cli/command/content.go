package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// Content is an argument that names content: a link, a content id or a path.
type Content struct {
	Name string      // for the daemon
	Link *proto.Link // nil when the argument is not a link
}

// ParseContent parses an argument, after ReadArg.
func (env *Env) ParseContent(ctx context.Context, text string) (Content, error) {
	text, err := env.ReadArg(ctx, text)
	if err != nil {
		return Content{}, err
	}
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(text)), "magnet:") {
		link, err := ParseLink(text)
		return Content{text, link}, err
	}
	if _, err := cid.Decode(text); err == nil {
		if _, err := os.Lstat(text); errors.Is(err, os.ErrNotExist) {
			return Content{Name: text}, nil
		}
	}
	path, err := AbsPath(text)
	return Content{Name: path}, err
}

// AbsPath returns an absolute path that is sent to the daemon as JSON, which has UTF-8 only.
func AbsPath(path string) (string, error) {
	path, err := vfs.Abs(path)
	if err == nil && !utf8.ValidString(path) {
		err = fmt.Errorf("%q is not valid UTF-8: choose another path, or rename what is not", path)
	}
	return path, err
}

// ParseLink is [proto.ParseLink], whose error names what to do with the link of a feed.
func ParseLink(text string) (*proto.Link, error) {
	if feed.IsLink(text) {
		return nil, errors.New("this is the link of a feed: `mob feed follow` it")
	}
	return proto.ParseLink(text)
}

// ReadArg reads an argument from elsewhere, so that a link is not among the arguments that other users see: from the first
// line of standard input if it is -, or from a file if it is @PATH. Other arguments are as they are.
func (env *Env) ReadArg(ctx context.Context, text string) (string, error) {
	path, isFile := strings.CutPrefix(text, "@")
	from, in := "standard input", env.In
	switch {
	case isFile:
		f, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("cannot read the link: %w", err)
		}
		defer f.Close()
		from, in = path, f
	case text != "-":
		return text, nil
	}
	lines, all := bufio.NewReader(io.LimitReader(Until(ctx, in), proto.MaxLink+2)), ""
	var err error
	for err == nil && (isFile || strings.TrimSpace(all) == "") { // standard input may stay open, as from a `mob seed` that serves
		text, err = lines.ReadString('\n')
		all += text
	}
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("cannot read the link: %w", err)
	}
	line := strings.TrimSpace(all)
	if line == "" || strings.ContainsAny(line, "\r\n") {
		return "", fmt.Errorf("%s does not have one line with a link", from)
	}
	return line, nil
}

// Until returns a reader of in that fails once ctx ends, also while in blocks, as a terminal does. In that case a call of
// in remains: the process should exit.
func Until(ctx context.Context, in io.Reader) io.Reader { return untilReader{ctx, in} }

type untilReader struct {
	ctx context.Context
	in  io.Reader
}

// Read implements [io.Reader].
func (u untilReader) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := u.in.Read(p)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-u.ctx.Done():
		return 0, u.ctx.Err()
	}
}

// ReadFile reads a regular file of at most limit bytes. what names it in errors.
func ReadFile(path, what string, limit int64) ([]byte, error) {
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a %s", path, what)
	case fi.Size() > limit:
		return nil, fmt.Errorf("%s: %s of more than %d bytes", path, what, limit)
	}
	return os.ReadFile(path)
}
