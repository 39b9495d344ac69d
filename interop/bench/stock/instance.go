package stock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// Config is one torrent for one client to download or seed.
type Config struct {
	// Node is the place where the client runs. A node has at most one, since all listen on Port.
	Node *netns.Node
	// Dir gets a directory for the client, with its settings, state, log and content. A
	// client that finds the directory of one that was killed resumes its download.
	Dir string
	// Torrent is the path of a torrent file, or a magnet link; Name is the name of the content in it.
	Torrent, Name string
	// Content is the path of the content, for a client that seeds.
	Content string
}

// Port is the place where clients listen.
const Port = 6881

// Instance is a client with one torrent on a node. Its methods may be called from any
// goroutine.
type Instance struct {
	client *Client
	node   *netns.Node
	// dir is the client's own directory, data the directory with the content.
	dir, data     string
	torrent, name string // as in Config
	// mark is a file that the client creates when the content is complete, and hook the path of a script
	// that creates it, for clients that run one when they are done.
	mark, hook string

	// mu guards the rest.
	mu     sync.Mutex
	proc   *netns.Program // nil until it is started
	killed bool
}

// New prepares a client without starting it.
func (c *Client) New(cfg Config) (*Instance, error) {
	for _, path := range []*string{&cfg.Dir, &cfg.Torrent, &cfg.Content} { // clients run in their own directories
		if *path == "" || strings.HasPrefix(*path, "magnet:") {
			continue
		}
		var err error
		*path, err = filepath.Abs(*path)
		if err != nil {
			return nil, err
		}
	}
	dir := filepath.Join(cfg.Dir, cfg.Node.Name())
	i := &Instance{
		client:  c,
		node:    cfg.Node,
		dir:     dir,
		data:    filepath.Join(dir, "data"),
		torrent: cfg.Torrent,
		name:    cfg.Name,
		mark:    filepath.Join(dir, "complete"),
		hook:    filepath.Join(dir, "hook"),
	}
	if err := os.MkdirAll(i.data, 0o700); err != nil {
		return nil, err
	}
	if cfg.Content == "" {
		return i, nil
	}
	// A link, since some clients put their own files beside the content.
	return i, symlink(cfg.Content, i.Copy())
}

// Start runs the client until it is killed, unless it has been started or killed before.
func (i *Instance) Start() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.killed || i.proc != nil {
		return nil
	}
	cmd, err := i.client.command(i)
	if err != nil {
		return err
	}
	i.proc, err = i.node.StartProgram(cmd, i.Log())
	return err
}

// Kill ends the client with SIGKILL and waits. It may be called again.
func (i *Instance) Kill() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.killed = true
	if i.proc == nil {
		return nil
	}
	return i.proc.Kill()
}

// Killed reports whether Kill was called.
func (i *Instance) Killed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.killed
}

// Ended is closed when a started client has ended.
func (i *Instance) Ended() <-chan struct{} { return i.program().Ended() }

// program returns the program of the client, nil until it is started.
func (i *Instance) program() *netns.Program {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.proc
}

// Usage returns the resources that the client has used.
func (i *Instance) Usage() netns.Usage {
	if p := i.program(); p != nil {
		return p.Usage()
	}
	return netns.Usage{}
}

// Failed is an error if the client has ended by itself.
func (i *Instance) Failed() error {
	if p := i.program(); p != nil {
		if err := p.Failed(); err != nil {
			return fmt.Errorf("%v %w", i, err)
		}
	}
	return nil
}

// Complete reports whether the client has reported a complete copy. It fails if the client
// has ended by itself before.
func (i *Instance) Complete() (bool, error) {
	failed := i.Failed() // before a look at the mark, which may be the last that a client creates
	if _, err := os.Stat(i.mark); err == nil {
		return true, nil
	}
	return false, failed
}

// Fetch starts the client and waits until its copy is complete, or until it is killed.
func (i *Instance) Fetch(ctx context.Context) error {
	if err := i.Start(); err != nil {
		return err
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if complete, err := i.Complete(); complete || err != nil || i.Killed() {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Copy is the path of the client's copy.
func (i *Instance) Copy() string { return filepath.Join(i.data, i.name) }

// Log is the path of the client's output.
func (i *Instance) Log() string { return filepath.Join(i.dir, "log") }

// String names the client and its node, such as "aria2 on B0".
func (i *Instance) String() string {
	return fmt.Sprintf("%s on %s", i.client.name, i.node.Name())
}

// exec makes a command of the client with its own environment, without a
// user's settings at home or a proxy.
func (i *Instance) exec(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = i.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + i.dir, "LANG=C.UTF-8"}
	return cmd
}

// symlink makes a symbolic link, unless there is one.
func symlink(to, path string) error {
	err := os.Symlink(to, path)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// quote quotes s as one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
