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

// TrackerPort is the place where trackers listen.
const TrackerPort = 6969

// Tracker is a BitTorrent tracker.
type Tracker struct {
	Name string
	// Missing is nil if the tracker is installed; otherwise it names the package to install.
	Missing error
	// Command makes the command that serves one torrent on a node. dir is for the
	// tracker's state, list a file with the info-hash in hex. ExtraFiles of the command
	// are closed once it has started.
	Command func(node *netns.Node, dir, list string) (*exec.Cmd, error)
}

// Opentracker is opentracker. Its answers ask for the next announce after half an hour,
// but have up to 50 peers that announced before. So any two members learn of each other,
// by the tracker or by peer exchange.
func Opentracker() *Tracker {
	return &Tracker{Name: "opentracker", Missing: missing("opentracker", "opentracker"), Command: opentrackerCommand}
}

// unprivileged is the user id that owns no file.
const unprivileged = 65534

// opentrackerCommand runs opentracker with a whitelist, as Debian's build requires. It
// refuses to run as root. If it changed its user itself, the kernel would forget to kill it
// together with its parent; so it is started as another user, and inherits the whitelist as
// an open file, since that user may have no access to the directory.
func opentrackerCommand(node *netns.Node, _, list string) (*exec.Cmd, error) {
	f, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("opentracker", "-i", node.IP.String(), "-p", strconv.Itoa(TrackerPort), "-w", "/proc/self/fd/3")
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{f}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
	return cmd, nil
}

// URL is the announce URL of a tracker on a node.
func (t *Tracker) URL(node *netns.Node) string {
	return fmt.Sprintf("http://%s:%d/announce", node.IP, TrackerPort)
}

// RunningTracker is a tracker of one torrent on a node.
type RunningTracker struct {
	name      string
	proc      *netns.Program
	http      *http.Client // of the node
	scrapeURL string
}

// Start starts the tracker on a node, for the torrent of an info-hash, and returns once it
// listens. The tracker keeps its log and state in dir. It runs until it is killed.
func (t *Tracker) Start(node *netns.Node, dir string, hash [sha1.Size]byte) (*RunningTracker, error) {
	list := filepath.Join(dir, "tracker.whitelist")
	if err := os.WriteFile(list, []byte(hex.EncodeToString(hash[:])+"\n"), 0o644); err != nil {
		return nil, err
	}
	if err := os.Chmod(list, 0o644); err != nil { // whatever the umask
		return nil, err
	}
	cmd, err := t.Command(node, filepath.Join(dir, "tracker"), list)
	if err != nil {
		return nil, err
	}
	p, err := node.StartProgram(cmd, filepath.Join(dir, "tracker.log"))
	for _, f := range cmd.ExtraFiles {
		f.Close() // the child has its own
	}
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, network, addr string) (conn net.Conn, err error) {
		err = node.Do(func() (err error) {
			conn, err = new(net.Dialer).DialContext(ctx, network, addr)
			return err
		})
		return conn, err
	}
	r := &RunningTracker{
		name: t.Name, proc: p,
		http:      &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}, Timeout: time.Second},
		scrapeURL: fmt.Sprintf("http://%s:%d/scrape?info_hash=%s", node.IP, TrackerPort, url.QueryEscape(string(hash[:]))),
	}
	// A client whose first announce is rejected would announce again only after minutes.
	ctx, cancel := context.WithTimeout(context.Background(), listenTimeout)
	defer cancel()
	if err := r.await(ctx, func(_ Scrape, err error) bool { return err == nil || errors.Is(err, errUnknown) }); err != nil {
		return nil, errors.Join(fmt.Errorf("%s does not listen: %w", t.Name, err), r.Kill())
	}
	return r, nil
}

// Kill ends the tracker with SIGKILL and waits. It may be called again.
func (r *RunningTracker) Kill() error { return r.proc.Kill() }

// listenTimeout bounds the time until a tracker listens.
const listenTimeout = 20 * time.Second

// AwaitSeed waits until a peer has announced that it is complete. It fails when the seed
// ends by itself.
func (r *RunningTracker) AwaitSeed(ctx context.Context, seed *Instance) error {
	err := r.await(ctx, func(c Scrape, err error) bool { return err == nil && c.Complete > 0 || seed.Failed() != nil })
	if err != nil {
		return fmt.Errorf("%v does not seed: %w", seed, err)
	}
	return seed.Failed()
}

// await scrapes until done returns true. It fails when the tracker ends by itself.
func (r *RunningTracker) await(ctx context.Context, done func(Scrape, error) bool) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done(r.Scrape()) {
		select {
		case <-tick.C:
		case <-r.proc.Ended():
			return fmt.Errorf("%s %w", r.name, r.proc.Failed())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// errUnknown is the error of Scrape while the tracker has no peer of the torrent.
var errUnknown = errors.New("the tracker does not know the torrent yet")

// Scrape is a tracker's counts of a torrent: peers with all of it, peers without, and
// completed downloads.
type Scrape struct {
	Complete   int `bencode:"complete"`
	Incomplete int `bencode:"incomplete"`
	Downloaded int `bencode:"downloaded"`
}

// Scrape asks the tracker for its counts. An error may be temporary.
func (r *RunningTracker) Scrape() (Scrape, error) {
	resp, err := r.http.Get(r.scrapeURL)
	if err != nil {
		return Scrape{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return Scrape{}, err
	}
	var reply struct {
		Files map[string]Scrape `bencode:"files"`
	}
	if err := bencode.Unmarshal(b, &reply); err != nil {
		return Scrape{}, fmt.Errorf("%w: %w", errUnknown, err)
	}
	for _, s := range reply.Files { // one at most
		return s, nil
	}
	return Scrape{}, errUnknown
}
