package cli

import (
	"fmt"
	"io"
	"log/slog"
)

// newLog returns the log of a node or a tracker.
func newLog(w io.Writer, level string, asJSON bool) (*slog.Logger, error) {
	if level == "off" {
		return slog.New(slog.DiscardHandler), nil
	}
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("unknown --log-level %q: want debug, info, warn, error or off", level)
	}
	opt := &slog.HandlerOptions{Level: l}
	if asJSON {
		return slog.New(slog.NewJSONHandler(w, opt)), nil
	}
	return slog.New(slog.NewTextHandler(w, opt)), nil
}
