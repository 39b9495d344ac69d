package netns

import "errors"

// ErrClosed is returned by every call on a grid, or on its nodes, after [Grid.Close].
var ErrClosed = errors.New("netns: grid is closed")
