package control

import (
	"net/http"
	"time"

	"github.com/mobgrid/mob/peer/limit"
)

// LimitRequest changes limits of the node, or of one transfer, until the daemon ends.
type LimitRequest struct {
	// Name is the content id, link or path of the transfer, empty for the node.
	Name string `json:"name,omitempty"`
	// Reset forgets earlier changes first: the node has its configured limits again, and a
	// transfer has none.
	Reset bool `json:"reset,omitempty"`
	// Priority is the new priority of the transfer, which outlasts the daemon. An empty one keeps it.
	Priority limit.Priority `json:"priority,omitempty"`
	limit.Change
}

// Limits are the limits of the node.
type Limits struct {
	limit.Limits
	// Settings has the source of each limit, and its end.
	Settings []limit.Setting `json:"settings"`
	// Share is the node's part in the limit of its site, nil if there is none.
	Share *limit.ShareStatus `json:"share,omitempty"`
	// Transfers lists the transfers with separate limits.
	Transfers []TransferLimits `json:"transfers,omitempty"`
}

// TransferLimits are the limits of one transfer.
type TransferLimits struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	limit.Limits
	Priority limit.Priority `json:"priority,omitempty"`
}

// Limits returns the limits of the node.
func (s *Server) Limits() Limits {
	inForce, settings := s.cfg.Limits.InForce(time.Now())
	l := Limits{Limits: inForce, Settings: settings, Share: s.cfg.Node.Share()}
	for _, t := range s.cfg.Node.Transfers() {
		if own := t.Limits(); own != (limit.Limits{}) {
			st := t.Progress()
			l.Transfers = append(l.Transfers, TransferLimits{st.ID, st.Name, own, st.Priority})
		}
	}
	return l
}

// setLimits changes limits.
func (s *Server) setLimits(_ *http.Request, req LimitRequest) (any, error) {
	if err := req.Check(); err != nil {
		return nil, &Error{CodeRequest, err.Error()}
	}
	if req.Name == "" {
		s.cfg.Limits.Change(req.Change, req.Reset)
		return s.Limits(), nil
	}
	if req.ClusterWANDown != nil {
		return nil, &Error{CodeRequest, "cluster-wan-down is for the node: a transfer has no such limit"}
	}
	t, err := s.cfg.Node.Transfer(req.Name)
	if err != nil {
		return nil, err
	}
	own := t.Limits()
	if req.Reset {
		own = limit.Limits{}
	}
	if err := t.SetPriority(req.Priority); err != nil {
		return nil, err
	}
	t.SetLimits(req.Apply(own))
	return s.Limits(), nil
}

func (s *Server) limits(r *http.Request) (any, error) {
	l := s.Limits()
	if caller(r) != nil {
		l.Transfers = nil
	}
	return l, nil
}
