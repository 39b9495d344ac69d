package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// Fleet is programs on the nodes of a grid. Its methods may be called from any
// goroutine, but one at a time for each member.
type Fleet struct {
	// Grid is what it runs on.
	Grid *netns.Grid
	// Bin is the folder of the programs mob and mobd.
	Bin string
	// Dir gets a folder for each member, with its data and log.
	Dir string
	// Guests lets BitTorrent clients in, at GuestPort of every daemon's address and
	// TrackerPort of the tracker's.
	Guests bool
	// Instead has the programs, with their first arguments, that run in the place of
	// mobd, by the names of daemons.
	Instead map[string][]string
	// Debug has the daemons log everything.
	Debug bool

	tracker *process
	addr    string      // of the tracker
	node    *netns.Node // of the tracker
}

// The ports for BitTorrent.
const (
	TrackerPort = 6969
	GuestPort   = 6882 // next to that of stock clients on the same node
)

// process is a program that tells on its first line that it is ready.
type process struct {
	p    *netns.Process
	line string
	log  *os.File
	once sync.Once // guards the end
	err  error     // of the end
}

// startTimeout bounds the time until a program is ready.
const startTimeout = 20 * time.Second

// start runs a program on a node and waits for its first line.
func (f *Fleet) start(node *netns.Node, log string, name string, args ...string) (*process, error) {
	logFile, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(f.Bin, name), args...)
	cmd.Stderr = logFile
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, logFile.Close())
	}
	p, err := node.Start(cmd)
	if err != nil {
		return nil, errors.Join(err, logFile.Close())
	}
	proc := &process{p: p, log: logFile}
	line := make(chan string, 1)
	go func() {
		s, _ := bufio.NewReader(out).ReadString('\n')
		line <- strings.TrimSpace(s)
	}()
	select {
	case proc.line = <-line:
	case <-time.After(startTimeout):
	}
	if proc.line == "" {
		text, _ := os.ReadFile(log)
		return nil, errors.Join(fmt.Errorf("%s on %s%d did not start: %s", name, node.Cluster, node.Index, lastLine(text)), proc.kill())
	}
	return proc, nil
}

func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1]
}

// kill is kill -9, and waits. It may be called again.
func (p *process) kill() error {
	p.once.Do(func() {
		err := p.p.Kill()
		if errors.Is(err, os.ErrProcessDone) {
			err = nil
		}
		_ = p.p.Wait() // that it was killed is no error
		p.err = errors.Join(err, p.log.Close())
	})
	return p.err
}

// StartTracker runs the tracker on a node.
func (f *Fleet) StartTracker(node *netns.Node) error {
	dir := filepath.Join(f.Dir, "tracker")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	listen := fmt.Sprintf("/ip4/%s/tcp/0", node.IP)
	args := []string{"tracker", "--listen", listen, "--data", dir}
	if f.Guests {
		args = append(args, "--bt-listen", fmt.Sprintf("%s:%d", node.IP, TrackerPort))
	}
	p, err := f.start(node, filepath.Join(dir, "log"), "mob", args...)
	if err != nil {
		return err
	}
	f.tracker, f.addr, f.node = p, p.line, node
	return nil
}

// announce is where BitTorrent clients announce themselves to the tracker.
func (f *Fleet) announce() string {
	return fmt.Sprintf("http://%s:%d/announce", f.node.IP, TrackerPort)
}

// KillTracker is kill -9.
func (f *Fleet) KillTracker() error { return f.tracker.kill() }

// Daemon is a mobd on a node.
type Daemon struct {
	Node  *netns.Node
	fleet *Fleet
	name  string
	dir   string
	proc  *process
}

// StartDaemon runs mobd on a node, as a member of the node's cluster. Starting it
// again after [Daemon.Kill] takes up its data folder.
func (f *Fleet) StartDaemon(node *netns.Node) (*Daemon, error) {
	return f.StartNamed(node, fmt.Sprintf("%s%d", node.Cluster, node.Index), node.Cluster)
}

// StartNamed runs mobd under a name of its own, at a port that is free, so that a
// node can have several.
func (f *Fleet) StartNamed(node *netns.Node, name, cluster string) (*Daemon, error) {
	d := &Daemon{Node: node, fleet: f, name: name, dir: filepath.Join(f.Dir, name)}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, err
	}
	listen := fmt.Sprintf("/ip4/%s/tcp/0", node.IP)
	program := f.Instead[name]
	if program == nil {
		program = []string{"mobd"}
	}
	args := append(slices.Clone(program[1:]), "--cluster", cluster, "--listen", listen, "--data", d.dir)
	if f.addr != "" {
		args = append(args, "--tracker", f.addr)
	}
	if f.Guests {
		args = append(args, "--bt-listen", fmt.Sprintf("%s:%d", node.IP, GuestPort))
	}
	if f.Debug {
		args = append(args, "--log-level", "debug")
	}
	var err error
	if d.proc, err = f.start(node, filepath.Join(d.dir, "log"), program[0], args...); err != nil {
		return nil, err
	}
	return d, nil
}

// Kill is kill -9.
func (d *Daemon) Kill() error { return d.proc.kill() }

// ID is the peer id of the daemon.
func (d *Daemon) ID() string { return d.proc.line[strings.LastIndexByte(d.proc.line, '/')+1:] }

// Name is the daemon's name in results: by default its cluster and its number.
func (d *Daemon) Name() string { return d.name }

// Log is the path of the daemon's log.
func (d *Daemon) Log() string { return filepath.Join(d.dir, "log") }

// mob runs a command against the daemon and returns what it printed.
func (d *Daemon) mob(ctx context.Context, args ...string) (string, error) {
	out, _, err := d.timed(ctx, args...)
	return out, err
}

// timed is mob that also returns the CPU time of the command.
func (d *Daemon) timed(ctx context.Context, args ...string) (string, time.Duration, error) {
	var out, errs strings.Builder
	cmd := exec.CommandContext(ctx, filepath.Join(d.fleet.Bin, "mob"), append([]string{"--data", d.dir}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := d.Node.Run(cmd)
	var used time.Duration
	if cmd.ProcessState != nil {
		used = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		return "", used, fmt.Errorf("%s: mob %s: %w: %s", d.Name(), args[0], err, lastLine([]byte(errs.String())))
	}
	return strings.TrimSpace(out.String()), used, nil
}

// Seed serves a file and returns its link. Flags are further ones of mob seed.
func (d *Daemon) Seed(ctx context.Context, path string, flags ...string) (link string, err error) {
	return d.mob(ctx, append([]string{"seed", path}, flags...)...)
}

// Offer serves a file or folder to BitTorrent clients as well: the link is a magnet
// link for them too, and a torrent file is written. announce is the address of their
// tracker.
func (d *Daemon) Offer(ctx context.Context, path, torrent, announce string) (link string, err error) {
	return d.mob(ctx, "seed", path, "--torrent-file", torrent, "--bt-tracker", announce)
}

// Out is where the daemon's get puts the content.
func (d *Daemon) Out() string { return filepath.Join(d.dir, "out") }

// Get fetches to [Daemon.Out] and returns when the content is whole.
func (d *Daemon) Get(ctx context.Context, link string) error {
	_, err := d.get(ctx, link)
	return err
}

// get is Get that returns the CPU time of the command.
func (d *Daemon) get(ctx context.Context, link string) (time.Duration, error) {
	_, used, err := d.timed(ctx, "get", link, "-o", d.Out())
	return used, err
}

// Status is what the daemon's status command says in JSON.
func (d *Daemon) Status(ctx context.Context) (string, error) { return d.mob(ctx, "status", "--json") }

// Memory is how much memory the daemon has resident, and the most that it has
// had, in bytes.
func (d *Daemon) Memory() (now, peak int64, err error) { return bench.ProcessMemory(d.proc.p.Pid()) }

// CPU is the time that the daemon has used so far.
func (d *Daemon) CPU() (time.Duration, error) { return bench.ProcessCPU(d.proc.p.Pid()) }

// Stop ends the daemon with SIGTERM and waits for it.
func (d *Daemon) Stop() error {
	if err := d.proc.p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	d.proc.once.Do(func() { d.proc.err = errors.Join(d.proc.p.Wait(), d.proc.log.Close()) })
	return d.proc.err
}
