package daemon

import (
	"fmt"
	"log/slog"
	"net/netip"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/web"
	"github.com/mobgrid/mob/peer/datadir"
)

// WebFlags are the flags of --http.
type WebFlags struct {
	listen    string
	hosts     []string
	tokenFile string
}

// Add adds the flags.
func (w *WebFlags) Add(f *pflag.FlagSet) {
	f.StringVar(&w.listen, "http", "", "ADDR:PORT or unix:PATH of the page, metrics and health; none by default")
	f.StringArrayVar(&w.hosts, "http-host", nil, "host name of --http for browsers and tools; repeatable")
	f.StringVar(&w.tokenFile, "http-token-file", "", "file with the token of --http; http-token in the data directory, or tracker/ there, by default")
}

// Open opens the socket of --http. The server is nil without the flag.
func (w *WebFlags) Open(env *command.Env, data string, log *slog.Logger) (*web.Server, error) {
	if w.listen == "" {
		if len(w.hosts) > 0 || w.tokenFile != "" {
			return nil, command.Usagef("--http-host and --http-token-file are for the page: give --http as well")
		}
		return nil, nil
	}
	if err := web.CheckAddress(w.listen); err != nil {
		return nil, command.Usagef("--http: %w", err)
	}
	if err := datadir.Create(data); err != nil {
		return nil, err
	}
	s, err := web.Listen(web.Config{Listen: w.listen, Hosts: w.hosts, TokenFile: w.tokenFile, Data: data, Log: log})
	if err != nil {
		return nil, fmt.Errorf("--http: %w", err)
	}
	note := "page at " + pageURL(s.URL())
	if file := s.TokenFile(); file != "" {
		note += ", its token in " + file
	}
	env.Note("%s", note)
	return s, nil
}

// pageURL replaces an unspecified address in the URL of a page by one of this machine.
func pageURL(url string) string {
	at, err := netip.ParseAddrPort(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"))
	if err != nil { // a Unix socket
		return url
	}
	return fmt.Sprintf("http://%v/", netip.AddrPortFrom(dialableIPs(at.Addr())[0], at.Port()))
}
