package control

import (
	"context"
	"net/http"
	"slices"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/feed"
)

// FeedRequest makes a feed, publishes a version of it, or ends it.
type FeedRequest struct {
	// Name is the name of the feed; except to make one, its id or link will do.
	Name string `json:"name"`
	// Trackers are for the link of a new feed.
	Trackers []ma.Multiaddr `json:"trackers,omitempty"`
	// Content names the transfer of a version.
	Content string `json:"content,omitempty"`
	feed.PublishOptions
}

// feeds lists the feeds of the node.
func (s *Server) feeds(*http.Request) (any, error) {
	return s.cfg.Feeds.All(), nil
}

// newFeed makes a feed.
func (s *Server) newFeed(_ *http.Request, req FeedRequest) (any, error) {
	l := &feed.Link{Trackers: slices.Clone(s.cfg.Node.Trackers())}
	for _, t := range req.Trackers {
		if !slices.ContainsFunc(l.Trackers, t.Equal) {
			l.Trackers = append(l.Trackers, t)
		}
	}
	if err := s.cfg.Feeds.New(req.Name, l); err != nil {
		return nil, err
	}
	return feed.Settings{Link: l.String()}, nil
}

// post publishes a version of a feed, whose content the node has.
func (s *Server) post(r *http.Request, req FeedRequest) (any, error) {
	t, err := s.find(r, req.Content)
	if err != nil {
		return nil, err
	}
	return task{
		progress: func() Event { return Event{} },
		run: func(ctx context.Context) (Event, error) {
			h, err := s.cfg.Feeds.Post(ctx, req.Name, t, req.PublishOptions)
			if err != nil {
				return Event{}, err
			}
			st := t.Status()
			return Event{Status: &st, Version: &feed.Version{Seq: h.Seq, ID: st.ID, Path: st.Root, Note: h.Note, Length: st.Length}}, nil
		},
	}, nil
}

// follow starts to follow a feed.
func (s *Server) follow(r *http.Request, req feed.Settings) (any, error) {
	if err := checkRequested(r, req.Dir); err != nil {
		return nil, err
	}
	if err := s.cfg.Feeds.Follow(req); err != nil {
		return nil, err
	}
	return req, nil
}

// removeFeed ends a feed at this node.
func (s *Server) removeFeed(_ *http.Request, req FeedRequest) (any, error) {
	return req, s.cfg.Feeds.Remove(req.Name)
}

// Feeds lists the feeds of the node.
func (c *Client) Feeds(ctx context.Context) (all []feed.Info, err error) {
	return all, c.call(ctx, "GET", "/v1/feeds", nil, &all)
}

// NewFeed makes a feed, and returns its link.
func (c *Client) NewFeed(ctx context.Context, req FeedRequest) (link string, err error) {
	var made feed.Settings
	err = c.call(ctx, "POST", "/v1/feed/new", req, &made)
	return made.Link, err
}

// Post publishes a version of a feed. It calls waiting until then, while the version is compared with the one before.
func (c *Client) Post(ctx context.Context, req FeedRequest, waiting func()) (*feed.Version, error) {
	ev, err := c.stream(ctx, "/v1/feed/post", req, func(Event) { waiting() })
	return ev.Version, err
}

// Follow starts to follow a feed.
func (c *Client) Follow(ctx context.Context, s feed.Settings) error {
	return c.call(ctx, "POST", "/v1/feed/follow"+placeQuery(s.Dir), s, nil)
}

// RemoveFeed ends a feed at the node.
func (c *Client) RemoveFeed(ctx context.Context, name string) error {
	return c.call(ctx, "POST", "/v1/feed/remove", FeedRequest{Name: name}, nil)
}
