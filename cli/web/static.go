package web

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed static
var static embed.FS

// HandlePage shows a page at /: an HTML file of the directory static. Its parts are public and need no token.
func (s *Server) HandlePage(name string) {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the directory is part of the program
	}
	s.HandleOpen("GET /static/", http.StripPrefix("/static", http.FileServerFS(files)))
	s.Handle("GET /{$}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, files, name)
	}))
}
