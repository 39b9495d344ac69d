package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// Daemon is a mobd on a node.
type Daemon struct {
	Node  *netns.Node
	fleet *Fleet
	name  string
	dir   string
	proc  *process

	link     string       // of the transfer that Fetch downloads
	fetching atomic.Int64 // CPU time of its commands, in nanoseconds
	started  time.Time    // of the last get to a pipe, and its first bytes
	first    time.Time
}

// Name is the daemon's name, by default the name of its node.
func (d *Daemon) Name() string { return d.name }

// Log is the path of the daemon's log.
func (d *Daemon) Log() string { return filepath.Join(d.dir, "log") }

// Out is the path where Get puts the content.
func (d *Daemon) Out() string { return d.dir + ".out" }

// Copy is Out, for a receiver of a swarm.
func (d *Daemon) Copy() string { return d.Out() }

// Kill ends the daemon with SIGKILL and waits. It may be called again.
func (d *Daemon) Kill() error { return d.proc.Kill() }

// Killed reports whether Kill was called.
func (d *Daemon) Killed() bool { return d.proc.Killed() }

// Ended is closed when the daemon has ended.
func (d *Daemon) Ended() <-chan struct{} { return d.proc.Ended() }

// Failed returns an error if the daemon has ended without Kill.
func (d *Daemon) Failed() error {
	if err := d.proc.Failed(); err != nil {
		return fmt.Errorf("%s: mobd %w", d.Name(), err)
	}
	return nil
}

// Usage returns the resources that the daemon has used, and the commands of Fetch.
func (d *Daemon) Usage() netns.Usage {
	used := d.proc.Usage()
	used.CPU += time.Duration(d.fetching.Load())
	return used
}

// Fetch downloads the content of the transfer, until the daemon ends.
func (d *Daemon) Fetch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-d.Ended():
			cancel()
		case <-ctx.Done():
		}
	}()
	cpu, err := d.get(ctx, d.link)
	d.fetching.Add(int64(cpu))
	return err
}

// mob runs a command of mob against the daemon and returns its output.
func (d *Daemon) mob(ctx context.Context, args ...string) (string, error) {
	var out strings.Builder
	_, err := d.run(ctx, &out, args...)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

// run runs a command of mob against the daemon, and returns its CPU time.
func (d *Daemon) run(ctx context.Context, out io.Writer, args ...string) (time.Duration, error) {
	var errs strings.Builder
	cmd := exec.CommandContext(ctx, filepath.Join(d.fleet.Bin, "mob"), append([]string{"--data", d.dir}, args...)...)
	cmd.Stdout, cmd.Stderr = out, &errs
	err := d.Node.Run(cmd)
	var cpu time.Duration
	if cmd.ProcessState != nil {
		cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		text := strings.TrimSpace(errs.String())
		return cpu, fmt.Errorf("%s: mob %s: %w: %s", d.Name(), args[0], err, text[strings.LastIndexByte(text, '\n')+1:])
	}
	return cpu, nil
}

// Seed serves a file or directory and returns its link. Flags are further ones of mob seed.
func (d *Daemon) Seed(ctx context.Context, path string, flags ...string) (link string, err error) {
	return d.mob(ctx, append([]string{"seed", path}, flags...)...)
}

// get downloads to Out, returns when the content is complete, and returns the CPU time of the command.
func (d *Daemon) get(ctx context.Context, link string) (time.Duration, error) {
	if !d.fleet.Pipe {
		return d.run(ctx, io.Discard, "get", link, "-o", d.Out())
	}
	f, err := os.Create(d.Out())
	if err != nil {
		return 0, err
	}
	d.started = time.Now()
	cpu, err := d.run(ctx, pipeWriter{f, d}, "get", link, "-o", "-")
	return cpu, errors.Join(err, f.Close())
}

// pipeWriter writes the output of a get to a file, and records the time of the first bytes.
type pipeWriter struct {
	file   *os.File
	daemon *Daemon
}

func (w pipeWriter) Write(p []byte) (int, error) {
	if w.daemon.first.Before(w.daemon.started) {
		w.daemon.first = time.Now()
	}
	return w.file.Write(p)
}
