package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/sshd"
)

// remote is a command that its user runs on the source, and that logs in to the other nodes
// with ssh. The logins are a part of the transfer, and so is what the command does after
// the last copy: the last receiver counts as complete when the command has ended.
type remote struct {
	hosts   *sshd.Site
	byNode  map[*netns.Node]*sshd.Host
	source  *netns.Node
	log     string
	command *exec.Cmd
	stdin   string // path of its standard input, if not empty
	// size of a copy, and time of the last change of one that is complete, if not zero: a
	// program that writes out of order sets it last.
	size    int64
	changed time.Time

	// mu guards what follows.
	mu     sync.Mutex
	killed map[*netns.Node]bool
	used   netns.Usage
}

// copyName is the name of a copy in the user's home directory on a host.
const copyName = "copy"

// oldTime is the time of the last change of content of which copies get the time.
func oldTime() time.Time { return time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC) }

// newRemote makes a host of each receiver, all alike.
func newRemote(ctx context.Context, site Site, host sshd.Config) (*remote, error) {
	hosts, err := sshd.New(filepath.Join(site.Dir, "hosts"))
	if err != nil {
		return nil, err
	}
	content, err := os.Stat(site.Content)
	if err != nil {
		return nil, err
	}
	r := &remote{
		hosts:  hosts,
		byNode: map[*netns.Node]*sshd.Host{},
		source: site.Source,
		log:    filepath.Join(site.Dir, "log"),
		size:   content.Size(),
		killed: map[*netns.Node]bool{},
	}
	var configs []sshd.Config
	for _, n := range site.Receivers {
		host.Node = n
		configs = append(configs, host)
	}
	all, err := hosts.StartAll(ctx, configs)
	if err != nil {
		return nil, errors.Join(err, hosts.Close())
	}
	for i, n := range site.Receivers {
		r.byNode[n] = all[i]
	}
	return r, nil
}

// program makes a command, with its own directory for its home and for temporary files.
func (r *remote) program(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Dir(r.log)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + cmd.Dir, "TMPDIR=" + cmd.Dir}
	return cmd
}

// copyPath is the path of every copy, on its host.
func copyPath() string { return filepath.Join(sshd.HomeOnHosts(), copyName) }

// Fetch implements [Transfer].
func (r *remote) Fetch(ctx context.Context, complete func(n *netns.Node)) error {
	before, err := r.hosts.Usage()
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.used.CPU -= before.CPU // of the start
	r.mu.Unlock()
	if r.stdin != "" {
		in, err := os.Open(r.stdin)
		if err != nil {
			return err
		}
		defer in.Close()
		r.command.Stdin = in
	}
	p, err := r.source.StartProgram(r.command, r.log)
	if err != nil {
		return err
	}
	err = r.watch(ctx, p, complete)
	if ctx.Err() != nil {
		_ = p.Signal(syscall.SIGTERM) // to have it clean up; Close ends the rest
		select {
		case <-p.Ended():
		case <-time.After(5 * time.Second):
			err = errors.Join(err, p.Kill())
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if st := r.command.ProcessState; st != nil { // with all processes that it waited for: ssh among them
		r.used.CPU += st.UserTime() + st.SystemTime()
	}
	return err
}

// watch calls complete for each copy when it is complete, and for the last one when the command has
// ended.
func (r *remote) watch(ctx context.Context, p *netns.Program, complete func(n *netns.Node)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	left := maps.Clone(r.byNode)
	for first := true; ; {
		for n := range left {
			r.mu.Lock()
			if r.killed[n] {
				delete(left, n)
			}
			r.mu.Unlock()
			if len(left) > 1 && r.complete(n) {
				complete(n)
				delete(left, n)
				if first {
					first = false
					r.addPeak()
				}
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-p.Ended():
			for n := range left {
				if r.complete(n) {
					complete(n)
				}
			}
			return r.failure(p)
		}
	}
}

// complete reports whether the copy of a node is complete.
func (r *remote) complete(n *netns.Node) bool {
	info, err := os.Stat(r.Copy(n))
	return err == nil && info.Size() == r.size && (r.changed.IsZero() || info.ModTime().Equal(r.changed))
}

// failure is the error of a command that has ended. If nodes were killed, the command fails rightly.
func (r *remote) failure(p *netns.Program) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := p.Wait(); err != nil && len(r.killed) == 0 {
		return fmt.Errorf("%s: %w: %s", filepath.Base(r.command.Path), err, p.LastLine())
	}
	return nil
}

// addPeak adds the memory that processes have used so far, on any host.
func (r *remote) addPeak() {
	used, err := r.hosts.Usage()
	if err != nil {
		return // the peak is then the one at the end
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used.Peak = max(r.used.Peak, used.Peak)
}

// Copy implements [Transfer].
func (r *remote) Copy(n *netns.Node) string { return filepath.Join(r.byNode[n].Home(), copyName) }

// Kill implements [Transfer]: everything on the host ends, its server too.
func (r *remote) Kill(n *netns.Node) error {
	used, err := r.byNode[n].Usage()
	r.mu.Lock()
	r.killed[n] = true
	r.used.Add(used)
	r.mu.Unlock()
	return errors.Join(err, r.byNode[n].Kill())
}

// Close implements [Transfer].
func (r *remote) Close() (netns.Usage, error) {
	used, err := r.hosts.Usage()
	r.mu.Lock()
	defer r.mu.Unlock()
	used.Peak = max(used.Peak, r.used.Peak)
	used.CPU += r.used.CPU
	return used, errors.Join(err, r.hosts.Close())
}

// byCluster lists the clusters or racks of nodes in order, each with the names of its nodes. A single one has no
// name, as few users would give it one.
func byCluster(nodes []*netns.Node) []string {
	var order []string
	members := map[string][]string{}
	for _, n := range nodes {
		if !slices.Contains(order, n.Path) {
			order = append(order, n.Path)
		}
		members[n.Path] = append(members[n.Path], n.Name())
	}
	all := make([]string, len(order))
	for i, c := range order {
		if all[i] = strings.Join(members[c], ","); len(order) > 1 {
			all[i] = c + "=" + all[i]
		}
	}
	return all
}
