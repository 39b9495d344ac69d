package cli

import "github.com/mobgrid/mob/cli/web"

// register adds the page of a node to the server of --http.
func (d *daemon) register(s *web.Server) {
	s.HandleOwner("/v1/", d.server.Handler())
}
