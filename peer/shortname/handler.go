package shortname

import (
	"context"
	"fmt"
	"log/slog"
)

// handler replaces content ids in what another handler gets.
type handler struct {
	slog.Handler
	names *Names
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, h.names.Replace(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.replace(a))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = h.replace(a)
	}
	return &handler{h.Handler.WithAttrs(out), h.names}
}

// WithGroup implements [slog.Handler].
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.names}
}

// replace returns an attribute without content ids. A value that has one becomes text.
func (h *handler) replace(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		var members []slog.Attr
		for _, m := range v.Group() {
			members = append(members, h.replace(m))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(members...)}
	case slog.KindString, slog.KindAny:
		text := fmt.Sprint(v.Any())
		if out := h.names.Replace(text); out != text {
			v = slog.StringValue(out)
		}
	}
	return slog.Attr{Key: a.Key, Value: v}
}
