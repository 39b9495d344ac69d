package control

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/mobgrid/mob/peer"
)

func (s *Server) verify(r *http.Request) (task, error) {
	req, err := read[VerifyRequest](r)
	if err != nil {
		return task{}, err
	}
	t, err := s.find(r, req.Name)
	if err != nil {
		return task{}, err
	}
	var p hashProgress
	var found atomic.Pointer[peer.Verification]
	return task{
		progress: func() Event {
			ev := p.event()
			if v := found.Load(); v != nil {
				st := t.Progress()
				ev = Event{Verification: v, Status: &st}
			}
			return ev
		},
		run: func(ctx context.Context) (Event, error) {
			v, err := t.Verify(ctx, p.set)
			if err == nil && req.Repair && v.Unreadable.Count == 0 {
				found.Store(v)
				if err = s.repair(ctx, t); err == nil {
					repaired := *v
					repaired.Left, err = t.Differences(ctx)
					v = &repaired
				}
			}
			st := t.Status()
			return Event{Verification: v, Status: &st}, err
		},
	}, nil
}

// repair waits until the content is complete. A seed is never written to.
func (s *Server) repair(ctx context.Context, t *peer.Transfer) error {
	st := t.Progress()
	if st.Seed {
		return nil
	}
	if _, err := s.cfg.Node.Get(t.Link(), st.Root, peer.GetOptions{User: t.User()}); err != nil { // it may be stopped
		return err
	}
	if err := t.Wait(ctx); err != nil {
		return err
	}
	return t.Flush(ctx)
}
