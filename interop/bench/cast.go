package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mobgrid/mob/interop/sshd"
)

// Cast is mob cast as a system: nothing runs on the other nodes but a server of ssh.
type Cast struct {
	// Bin is the directory of the program mob.
	Bin string
	// Options follow the name: ThereOption and StreamOption.
	Options []string
}

// ThereOption has the same build on the path of the hosts, which otherwise have no program yet. StreamOption has the content come
// from standard input, and go into a command.
const (
	ThereOption  = "there"
	StreamOption = "stream"
)

// Name implements [System]: it is such as mob:cast or mob:cast:there:stream.
func (c Cast) Name() string { return strings.Join(append([]string{"mob:cast"}, c.Options...), ":") }

// Has reports whether the system has an option.
func (c Cast) Has(option string) bool { return slices.Contains(c.Options, option) }

// Missing implements [System].
func (c Cast) Missing() error {
	return errors.Join(missingBuilt(c.Bin, "mob", "mob-agent"), sshd.Missing())
}

// Prepare implements [System]: it starts the servers of ssh.
func (c Cast) Prepare(ctx context.Context, site Site) (Transfer, error) {
	host := sshd.Config{Hide: c.Bin}
	if c.Has(ThereOption) {
		host.Programs = c.Bin
	}
	r, err := newRemote(ctx, site, host)
	if err != nil {
		return nil, err
	}
	var args []string
	if c.Has(StreamOption) {
		args = []string{"cast", "-", "--exec", "cat >" + copyName}
		r.stdin = site.Content
	} else {
		args = []string{"cast", site.Content, "-o", copyPath()}
		r.changed = oldTime()
		if err := os.Chtimes(site.Content, r.changed, r.changed); err != nil {
			return nil, errors.Join(err, r.hosts.Close())
		}
	}
	args = append(args, "--rsh", "ssh -F "+r.hosts.ClientConfig())
	clusters := byCluster(site.Receivers)
	for _, hosts := range clusters {
		args = append(args, "--hosts", hosts)
	}
	if len(clusters) > 1 {
		args = append(args, "--cluster", site.Source.Path)
	}
	r.command = r.program(filepath.Join(c.Bin, "mob"), args...)
	return r, nil
}
