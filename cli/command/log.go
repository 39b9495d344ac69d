package command

import (
	"fmt"
	"io"
	"log/slog"
	"math"
)

// logOff is above every level.
const logOff = slog.Level(math.MaxInt)

// NewLog returns the log of a node or a tracker, and its level, which may be set at any time.
func NewLog(w io.Writer, level string, asJSON bool) (*slog.Logger, *slog.LevelVar, error) {
	l, err := ParseLogLevel(level)
	if err != nil {
		return nil, nil, err
	}
	at := new(slog.LevelVar)
	at.Set(l)
	opt := &slog.HandlerOptions{Level: at}
	if asJSON {
		return slog.New(slog.NewJSONHandler(jsonOutput{w}, opt)), at, nil
	}
	return slog.New(slog.NewTextHandler(w, opt)), at, nil
}

// ParseLogLevel parses a value of --log-level.
func ParseLogLevel(text string) (l slog.Level, err error) {
	if text == "off" {
		return logOff, nil
	}
	if err := l.UnmarshalText([]byte(text)); err != nil {
		return 0, fmt.Errorf("unknown --log-level %q: must be debug, info, warn, error or off", text)
	}
	return l, nil
}
