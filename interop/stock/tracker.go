package stock

import (
	"context"
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
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// trackerPort is where the tracker listens.
const trackerPort = 6969

// tracker is an opentracker for one torrent. Its answers tell clients to come
// back after half an hour; a client that joins announces itself at once, and hears
// of up to 50 that came before it, so any two members learn of each other, by the
// tracker or by the exchange of peers.
type tracker struct {
	node *netns.Node
	run  *process
}

func trackerProgram() program { return program{command: "opentracker", pkg: "opentracker"} }

// trackerURL is the announce address of a tracker on a node.
func trackerURL(node *netns.Node) string {
	return fmt.Sprintf("http://%s:%d/announce", node.IP, trackerPort)
}

// nobody is the user that owns nothing.
const nobody = 65534

// startTracker runs a tracker that admits one torrent, as Debian's build demands.
// It refuses to run as root. Its own change of user would make the kernel forget
// to end it together with us, so it is started as another user, and gets its list
// as an open file, since that user may not be let into dir.
func startTracker(node *netns.Node, dir string, t *torrent) (*tracker, error) {
	path := filepath.Join(dir, "tracker.admits")
	hash := t.infoHash()
	if err := os.WriteFile(path, []byte(hex.EncodeToString(hash[:])+"\n"), 0o644); err != nil {
		return nil, err
	}
	list, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer list.Close()
	if err := list.Chmod(0o644); err != nil { // whatever the umask
		return nil, err
	}
	cmd := exec.Command("opentracker", "-i", node.IP.String(), "-p", strconv.Itoa(trackerPort), "-w", "/proc/self/fd/3")
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{list}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	p, err := startProcess(node, cmd, filepath.Join(dir, "tracker.log"))
	if err != nil {
		return nil, err
	}
	return &tracker{node: node, run: p}, nil
}

// awaitSeed returns when somebody has announced that he has all of it. died ends
// the wait, with an error.
func (t *tracker) awaitSeed(ctx context.Context, of *torrent, died <-chan struct{}) error {
	hash := of.infoHash()
	ask := fmt.Sprintf("http://%s:%d/scrape?info_hash=%s", t.node.IP, trackerPort, url.QueryEscape(string(hash[:])))
	client := &http.Client{
		Transport: &http.Transport{DialContext: t.dial, DisableKeepAlives: true},
		Timeout:   time.Second,
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if n, err := seeds(client, ask); err == nil && n > 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-died:
			return errors.New("ended instead of seeding")
		case <-t.run.ended:
			return fmt.Errorf("opentracker ended: %s", t.run.lastWords())
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

// seeds asks a tracker for how many have all of a torrent. An error may pass.
func seeds(client *http.Client, ask string) (int, error) {
	resp, err := client.Get(ask)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`8:completei(\d+)e`).FindSubmatch(b)
	if m == nil {
		return 0, errors.New("the torrent is not known yet")
	}
	return strconv.Atoi(string(m[1]))
}
