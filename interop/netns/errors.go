package netns

import "errors"

// ErrClosed is the error of every call on a grid, its nodes or its processes after [Grid.Close].
var ErrClosed = errors.New("netns: grid is closed")
