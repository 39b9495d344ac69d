package control

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

const (
	// eventTrailer is the trailer after the bytes of content, with the last [Event].
	eventTrailer = "Mob-Event"
	// streamBuffer bounds that trailer, in bytes.
	streamBuffer = 64 << 10
)

// SeedPipe serves the bytes of in as a file named req.Name. It blocks until the content is served, and calls progress with the
// bytes read and 0, then with those hashed and to hash. The error of in is returned as it is.
func (c *Client) SeedPipe(ctx context.Context, req SeedRequest, in io.Reader, progress func(done, total int64)) (peer.Status, error) {
	head, err := json.Marshal(req)
	if err != nil {
		return peer.Status{}, err
	}
	r := &failingReader{Reader: in}
	last, err := c.stream(ctx, "/v1/pipe", io.MultiReader(bytes.NewReader(head), r), func(ev Event) { progress(ev.Hashed, ev.Total) })
	if why := r.err.Load(); why != nil {
		err = *why
	}
	return last.status(), err
}

// failingReader records the error of a reader.
type failingReader struct {
	io.Reader
	err atomic.Pointer[error]
}

func (r *failingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		r.err.Store(&err)
	}
	return n, err
}

// GetTo writes the content of a link to out, in order, while it arrives. It returns the last status. The error of out is returned
// as it is.
func (c *Client) GetTo(ctx context.Context, req GetRequest, out io.Writer) (peer.Status, error) {
	resp, err := c.send(ctx, http.MethodPost, "/v1/content", req)
	if err != nil {
		return peer.Status{}, err
	}
	defer resp.Body.Close()
	w := &failingWriter{Writer: out}
	if _, err := io.Copy(w, resp.Body); err != nil {
		if w.err != nil {
			return peer.Status{}, w.err
		}
		return peer.Status{}, c.explain(ctx, err)
	}
	var last Event
	if err := json.Unmarshal([]byte(resp.Trailer.Get(eventTrailer)), &last); err != nil {
		return peer.Status{}, c.unexpected(err)
	}
	if last.Error != nil {
		return peer.Status{}, last.Error
	}
	return last.status(), nil
}

// failingWriter records the error of a writer.
type failingWriter struct {
	io.Writer
	err error
}

func (w *failingWriter) Write(p []byte) (n int, err error) {
	n, w.err = w.Writer.Write(p)
	return n, w.err
}

// seedPipe serves the bytes after a request.
func (s *Server) seedPipe(r *http.Request, req SeedRequest) (any, error) {
	return s.seedWith(r, req, func(ctx context.Context, opt peer.SeedOptions) (*peer.Transfer, error) {
		return s.cfg.Node.SeedReader(ctx, req.Name, r.Body, opt)
	})
}

// content answers with the bytes of a link, see [Client.GetTo].
func (s *Server) content(_ *http.Request, req GetRequest) (any, error) {
	link, err := proto.ParseLink(req.Link)
	return content{s.cfg.Node, link, req.GetOptions, req.Keep}, err
}

// content is an answer with the bytes of a link.
type content struct {
	node *peer.Node
	link *proto.Link
	opt  peer.GetOptions
	keep bool
}

func (c content) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Trailer", eventTrailer)
	last := Event{}
	if _, err := c.node.GetTo(r.Context(), c.link, w, c.opt); err != nil {
		last.Error = newError(err)
	} else {
		last.Status, err = c.end()
		last.Done = err == nil
	}
	b, err := json.Marshal(last)
	if err == nil {
		w.Header().Set(eventTrailer, string(b))
	}
}

// pipeLinger bounds the time that a daemon serves its site what was written to a pipe.
const pipeLinger = 10 * time.Minute

// end returns the status of the transfer. If its pieces are kept for the call alone, the transfer ends once its site has
// the content.
func (c content) end() (*peer.Status, error) {
	t, err := c.node.Transfer(c.link.String())
	if err != nil {
		return nil, err
	}
	st := t.Progress()
	st.Link = "" // the client has it, and it is long
	if !c.keep && st.Root == "" && !st.Seed {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), pipeLinger)
			defer cancel()
			_ = t.WaitAll(ctx, peer.Site) // whatever the reason, it ends
			_ = c.node.Release(t)
		}()
	}
	return &st, nil
}
