package stock

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/anacrolix/torrent/bencode"

	"github.com/mobgrid/mob/interop/netns"
)

// trackerPort is where trackers listen.
const trackerPort = 6969

// Tracker is a program that tells the clients of a swarm of each other.
type Tracker struct {
	name string
	// scheme is that of its announce address: http or udp.
	scheme string
	// missing says what has to be installed, if so.
	missing func() error
	// command makes the command that serves one torrent on a node, as trackers do
	// that are not for everybody. Open files of it are closed when it has started.
	// The folder is for what the tracker keeps, the path that of a list of one
	// info-hash.
	command func(node *netns.Node, dir, list string) (*exec.Cmd, error)
}

// Opentracker is opentracker. Its answers tell clients to come back after half an
// hour; a client that joins announces itself at once, and hears of up to 50 that
// came before it, so any two members learn of each other, by the tracker or by the
// exchange of peers.
func Opentracker() *Tracker {
	return &Tracker{
		name:    "opentracker",
		scheme:  "http",
		missing: program{command: "opentracker", pkg: "opentracker"}.missing,
		command: opentrackerCommand,
	}
}

// nobody is the user that owns nothing.
const nobody = 65534

// opentrackerCommand has a list, as Debian's build demands. It refuses to run as
// root. Its own change of user would make the kernel forget to end it together with
// us, so it is started as another user, and gets its list as an open file, since
// that user may not be let into dir.
func opentrackerCommand(node *netns.Node, _, list string) (*exec.Cmd, error) {
	f, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("opentracker", "-i", node.IP.String(), "-p", strconv.Itoa(trackerPort), "-w", "/proc/self/fd/3")
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{f}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd, nil
}

// MobTracker is mob's tracker, of the built program in a folder, to which clients
// announce by scheme: http or udp.
func MobTracker(bin, scheme string) *Tracker {
	path := filepath.Join(bin, "mob")
	return &Tracker{
		name:   "mob by " + scheme,
		scheme: scheme,
		missing: func() error {
			if _, err := os.Stat(path); err != nil {
				return fmt.Errorf("mob is not in %s: make build", bin)
			}
			return nil
		},
		command: func(node *netns.Node, dir, list string) (*exec.Cmd, error) {
			return exec.Command(path, "--data", dir, "--log-level", "debug", "tracker",
				"--listen", fmt.Sprintf("/ip4/%v/tcp/0", node.IP),
				"--bt-listen", fmt.Sprintf("%v:%d", node.IP, trackerPort), "--torrents", list), nil
		},
	}
}

// Missing is nil when the tracker is installed; else it says what to install.
func (t *Tracker) Missing() error { return t.missing() }

// URL is the announce address on a node.
func (t *Tracker) URL(node *netns.Node) string {
	return fmt.Sprintf("%s://%s:%d/announce", t.scheme, node.IP, trackerPort)
}

// tracker is a tracker that runs, for one torrent.
type tracker struct {
	of   *Tracker
	node *netns.Node
	run  *process
	// http asks from the node.
	http *http.Client
	// ask is the address of the torrent's scrape.
	ask string
}

// Run starts the tracker on a node, for one torrent, of an info-hash. dir gets its log
// and whatever it keeps. It runs until end is called.
func (t *Tracker) Run(node *netns.Node, dir string, hash [sha1.Size]byte) (end func() error, err error) {
	run, err := t.start(node, dir, hash)
	if err != nil {
		return nil, err
	}
	return run.run.kill, nil
}

// start runs a tracker that admits one torrent.
func (t *Tracker) start(node *netns.Node, dir string, hash [sha1.Size]byte) (*tracker, error) {
	list := filepath.Join(dir, "tracker.admits")
	if err := os.WriteFile(list, []byte(hex.EncodeToString(hash[:])+"\n"), 0o644); err != nil {
		return nil, err
	}
	if err := os.Chmod(list, 0o644); err != nil { // whatever the umask
		return nil, err
	}
	cmd, err := t.command(node, filepath.Join(dir, "tracker"), list)
	if err != nil {
		return nil, err
	}
	p, err := startProcess(node, cmd, filepath.Join(dir, "tracker.log"))
	for _, f := range cmd.ExtraFiles {
		f.Close() // the child has its own
	}
	if err != nil {
		return nil, err
	}
	run := &tracker{of: t, node: node, run: p}
	run.http = &http.Client{
		Transport: &http.Transport{DialContext: run.dial, DisableKeepAlives: true},
		Timeout:   time.Second,
	}
	run.ask = fmt.Sprintf("http://%s:%d/scrape?info_hash=%s", node.IP, trackerPort, url.QueryEscape(string(hash[:])))
	if err := run.awaitPort(); err != nil {
		return nil, errors.Join(err, p.kill())
	}
	return run, nil
}

// readyTimeout bounds the time until a tracker listens.
const readyTimeout = 20 * time.Second

// awaitPort returns when the tracker listens: a client that is refused comes back
// after minutes.
func (t *tracker) awaitPort() error {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	for {
		conn, err := t.dial(ctx, "tcp", fmt.Sprintf("%s:%d", t.node.IP, trackerPort))
		if err == nil {
			return conn.Close()
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.run.ended:
			return fmt.Errorf("%s ended: %s", t.of.name, t.run.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("%s does not listen: %w", t.of.name, err)
		}
	}
}

// awaitSeed returns when somebody has announced that he has all of it. died ends
// the wait, with an error.
func (t *tracker) awaitSeed(ctx context.Context, died <-chan struct{}) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if c, err := t.scrape(); err == nil && c.whole > 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-died:
			return errors.New("ended instead of seeding")
		case <-t.run.ended:
			return fmt.Errorf("%s ended: %s", t.of.name, t.run.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("does not seed: %w", ctx.Err())
		}
	}
}

// dial connects from the tracker's own node, whoever calls.
func (t *tracker) dial(ctx context.Context, network, addr string) (conn net.Conn, err error) {
	err = t.node.Do(func() error {
		var d net.Dialer
		conn, err = d.DialContext(ctx, network, addr)
		return err
	})
	return conn, err
}

// scraped is what a tracker has counted: who has all, who lacks something, and how
// often somebody got it whole.
type scraped struct{ whole, partial, downloads int }

// scrape asks a tracker for its counts. An error may pass.
func (t *tracker) scrape() (c scraped, err error) {
	resp, err := t.http.Get(t.ask)
	if err != nil {
		return c, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return c, err
	}
	var reply struct {
		Files map[string]struct {
			Complete   int `bencode:"complete"`
			Downloaded int `bencode:"downloaded"`
			Incomplete int `bencode:"incomplete"`
		} `bencode:"files"`
	}
	if err := bencode.Unmarshal(b, &reply); err != nil {
		return c, err
	}
	for _, f := range reply.Files { // one, as asked for
		return scraped{f.Complete, f.Incomplete, f.Downloaded}, nil
	}
	return c, errors.New("the torrent is not known yet")
}
