package install

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// builtPackages makes packages of two versions, once, and returns their directory. The name of the
// older one has a tilde.
var builtPackages = sync.OnceValues(func() (dir string, err error) {
	dir = filepath.Join(scratch, "dist")
	for _, version := range []string{"v0.0.1-rc1", "v0.0.1"} {
		cmd := exec.Command("make", "-C", "../..", "packages", "DIST="+dir, "VERSION="+version)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("make packages: %w: %s", err, out)
		}
	}
	return dir, nil
})

// manager is a package manager. install also upgrades.
type manager struct {
	name, pattern          string
	install, remove, purge []string
}

func managers() []manager {
	return []manager{
		{"dpkg", "*.deb", []string{"dpkg", "-i"}, []string{"dpkg", "-r", "mob"}, []string{"dpkg", "-P", "mob"}},
		// On a Debian the rpm knows of no other package. It has no purge.
		{"rpm", "*.rpm", []string{"rpm", "-U", "--nodeps"}, []string{"rpm", "-e", "mob"}, nil},
	}
}

// TestPackages installs the packages on a machine with systemd, uses the daemon as other users
// than root, upgrades during a transfer, and removes everything but the content.
func TestPackages(t *testing.T) {
	for _, pm := range managers() {
		t.Run(pm.name, func(t *testing.T) {
			if _, err := exec.LookPath(pm.name); err != nil {
				t.Skip("there is no ", pm.name)
			}
			m := boot(t)
			dir, err := builtPackages()
			if err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, pm.pattern))
			if err != nil || len(files) != 2 {
				t.Fatalf("packages %v, %v", files, err)
			}
			for _, file := range files {
				b, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				to := "tmp/new.package"
				if strings.Contains(file, "~") {
					to = "tmp/old.package"
				}
				if err := os.WriteFile(m.path(to), b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			(&installation{m, pm}).test()
		})
	}
}

// installation is a machine with the package.
type installation struct {
	*machine
	pm manager
}

func (i *installation) test() {
	i.run(append(i.pm.install, "/tmp/old.package")...)
	i.quietAtFirst()
	i.configure()
	i.groupOnly()
	i.upgradeInTransfer()
	i.getDirectory()
	i.joinNetwork()
	i.trackerRuns()
	i.removal()
}

// quietAtFirst: an installation starts and enables nothing, and a daemon without a cluster reports
// the missing setting once.
func (i *installation) quietAtFirst() {
	i.t.Helper()
	for _, unit := range []string{"mobd.service", "mobd.socket", "mob-tracker.service"} {
		if state, _ := i.try("root", "systemctl", "is-enabled", unit); state != "disabled" {
			i.t.Errorf("%s is %s", unit, state)
		}
		if state, _ := i.try("root", "systemctl", "is-active", unit); state != "inactive" {
			i.t.Errorf("%s is %s", unit, state)
		}
	}
	i.write("/etc/systemd/system/mobd.service.d/log.conf", "[Service]\nStandardError=append:/var/log/mobd.log\n")
	i.run("systemctl", "daemon-reload")
	_, _ = i.try("root", "systemctl", "start", "mobd")
	i.await("a daemon without a cluster fails", func() bool {
		state, _ := i.try("root", "systemctl", "is-failed", "mobd")
		return state == "failed"
	})
	if log := i.run("cat", "/var/log/mobd.log"); strings.Count(log, "--cluster is missing") != 1 {
		i.t.Errorf("a daemon without a cluster logs %q", log)
	}
	i.run("systemctl", "stop", "mobd.socket")
	i.run("systemctl", "reset-failed")
}

// configure does what docs/operating/install.md tells to.
func (i *installation) configure() {
	i.t.Helper()
	i.run("sed", "-i", `s/^#cluster = .*/cluster = "here"/`, "/etc/mob/mobd.toml")
	i.run("install", "-d", "-o", "mob", "-g", "mob", "-m", "2775", "/srv/content")
	i.write("/etc/systemd/system/mobd.service.d/contents.conf", "[Service]\nReadWritePaths=/srv/content\n")
	i.run("systemctl", "daemon-reload")
	i.run("systemctl", "enable", "--now", "mobd")
	i.await("the daemon runs", func() bool {
		_, err := i.try("root", "mob", "--data", data, "ls")
		return err == nil
	})
	if who := i.run("ps", "-o", "user=", "-C", "mobd"); strings.TrimSpace(who) != "mob" {
		i.t.Errorf("mobd runs as %q", who)
	}
}

// data is the data directory of the packages.
const data = "/var/lib/mob"

// groupOnly: only members of the group may use the daemon.
func (i *installation) groupOnly() {
	i.t.Helper()
	i.run("useradd", "-G", "mob", "member")
	i.run("useradd", "visitor")
	if out, err := i.try("member", "mob", "--data", data, "ls"); err != nil {
		i.t.Errorf("a member of the group: %v: %s", err, out)
	}
	if out, err := i.try("visitor", "mob", "--data", data, "ls"); err == nil || !strings.Contains(out, "belongs to another user") {
		i.t.Errorf("another user: %v: %s", err, out)
	}
	if _, err := i.try("member", "cat", data+"/key"); err == nil {
		i.t.Error("a member of the group can read the key")
	}
}

// contentSize takes some seconds at the first rate of upgradeInTransfer.
const contentSize = 48 << 20

// upgradeInTransfer upgrades the package while the daemon fetches. The new daemon fetches the
// rest, and no more.
func (i *installation) upgradeInTransfer() {
	i.t.Helper()
	content := make([]byte, contentSize)
	_, _ = rand.Read(content)
	i.run("mkdir", "/srv/source")
	if err := os.WriteFile(i.path("/srv/source/big"), content, 0o644); err != nil {
		i.t.Fatal(err)
	}
	i.run("ip", "link", "set", "lo", "mtu", "1500")
	i.linkRate("add", "80mbit")
	link := i.seedElsewhere("/srv/source/big")
	ctx, cancel := context.WithTimeout(i.t.Context(), time.Minute)
	defer cancel()
	get := i.command(ctx, "mob", "mob", "--data", data, "get", link, "-o", "/srv/content/big")
	if err := get.Start(); err != nil {
		i.t.Fatal(err)
	}
	i.await("a quarter is fetched", func() bool { return i.status().Have > contentSize/4 })
	i.linkRate("change", "1mbit") // an upgrade takes many seconds on a busy machine
	before, started := i.status(), i.run("systemctl", "show", "-P", "MainPID", "mobd")
	i.run(append(i.pm.install, "/tmp/new.package")...)
	_ = get.Wait() // it reports that the daemon exited
	i.linkRate("change", "800mbit")
	if now := i.run("systemctl", "show", "-P", "MainPID", "mobd"); now == started || now == "0" {
		i.t.Errorf("process %s, and %s after the upgrade", started, now)
	}
	if out, err := i.try("mob", "mob", "--data", data, "get", link, "-o", "/srv/content/big"); err != nil {
		st, _ := i.try("root", "mob", "--data", data, "status")
		log, _ := i.try("root", "tail", "-n", "30", "/var/log/mobd.log")
		i.t.Fatalf("after the upgrade: %v: %s\n%s\n%s", err, out, st, log)
	}
	after := i.status()
	i.t.Logf("%d of %d bytes before the upgrade, %d fetched after it", before.Have, contentSize, after.Traffic.WANIn)
	if after.Traffic.WANIn == 0 {
		i.t.Error("the transfer was too fast for an upgrade midway")
	}
	if lacked := contentSize - before.Have; after.Traffic.WANIn > lacked+contentSize/20 {
		i.t.Errorf("%d bytes were missing, and %d fetched after the upgrade", lacked, after.Traffic.WANIn)
	}
	if got, err := os.ReadFile(i.path("/srv/content/big")); err != nil || !bytes.Equal(got, content) {
		i.t.Errorf("the content is another one, %v", err)
	}
	if got := i.run("cat", "/etc/mob/mobd.toml"); !strings.Contains(got, `cluster = "here"`) {
		i.t.Error("the upgrade lost the configuration")
	}
}

// getDirectory fetches a directory into the directory of the group. Its directories inherit setgid there.
func (i *installation) getDirectory() {
	i.t.Helper()
	i.run("mkdir", "-p", "/srv/tree/sub/sub")
	ctx, cancel := context.WithTimeout(i.t.Context(), time.Minute)
	defer cancel()
	link, err := i.command(ctx, "root", "mob", "--data", "/srv/node", "seed", "/srv/tree").Output()
	if err != nil {
		i.t.Fatalf("seed: %v", err)
	}
	if out, err := i.try("member", "mob", "--data", data, "get", strings.TrimSpace(string(link)), "-o", "/srv/content/tree"); err != nil {
		i.t.Fatalf("a directory: %v: %s", err, out)
	}
	if modes := i.run("stat", "-c", "%a", "/srv/content/tree/sub", "/srv/content/tree/sub/sub"); modes != "2755\n2755" {
		i.t.Errorf("directories with the modes %q", modes)
	}
	if out, err := i.try("member", "mob", "--data", data, "rm", "/srv/content/tree", "--content"); err != nil || i.there("/srv/content/tree") {
		i.t.Errorf("its removal: %v: %s", err, out)
	}
}

// joinNetwork makes the running node a member of a network by the steps in docs/operating/secure.md and in the output of
// mob join.
func (i *installation) joinNetwork() {
	i.t.Helper()
	i.run("mob", "network", "new", "/etc/mob/network")
	i.run("chmod", "600", "/etc/mob/network")
	id := i.run("runuser", "-u", "mob", "--", "mob", "--data", data, "network", "id")
	i.run("sh", "-c", "mob network sign /etc/mob/network "+id+" --cluster here >/root/cert")
	_, next, _ := strings.Cut(i.run("sh", "-c", "mob network show /root/cert --join 2>/dev/null | mob join - --force"), "next")
	for command := range strings.Lines(next) {
		i.run(strings.Fields(command)...)
	}
	i.await("the node is a member", func() bool {
		out, err := i.try("root", "mob", "--data", data, "status")
		return err == nil && strings.Contains(out, "net-")
	})
}

// linkRate limits the machine's loopback, over which the nodes exchange the content.
func (i *installation) linkRate(action, rate string) {
	i.t.Helper()
	i.run("tc", "qdisc", action, "dev", "lo", "root", "tbf", "rate", rate, "burst", "64k", "latency", "50ms")
}

// seedElsewhere runs another daemon, in another cluster, and has it seed content.
func (i *installation) seedElsewhere(path string) (link string) {
	i.t.Helper()
	ctx, cancel := context.WithCancel(i.t.Context())
	source := i.command(ctx, "root", "mobd", "--cluster", "there", "--listen", "/ip4/127.0.0.1/tcp/0", "--data", "/srv/node")
	if err := source.Start(); err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() { cancel(); _ = source.Wait() })
	// Before the daemon runs, mob would run one itself.
	i.await("the source runs", func() bool {
		_, err := i.try("root", "mob", "--data", "/srv/node", "ls")
		return err == nil
	})
	out, err := i.command(ctx, "root", "mob", "--data", "/srv/node", "seed", path).Output()
	if err != nil {
		i.t.Fatalf("seed: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// transfer is the part of `mob status --json` that the test reads.
type transfer struct {
	Have    int
	Traffic struct {
		WANIn int `json:"wan_in"`
	}
}

// status is the status of the only transfer of the daemon.
func (i *installation) status() (only transfer) {
	ctx, cancel := context.WithTimeout(i.t.Context(), time.Minute)
	defer cancel()
	out, err := i.command(ctx, "root", "mob", "--data", data, "status", "--json").Output()
	var st struct{ Transfers []transfer }
	if err == nil && json.Unmarshal(out, &st) == nil && len(st.Transfers) == 1 {
		only = st.Transfers[0]
	}
	return only
}

// trackerRuns starts the unit of the tracker, which needs no configuration, and then with the secret of the network, which only
// root can read.
func (i *installation) trackerRuns() {
	i.t.Helper()
	i.run("systemctl", "start", "mob-tracker")
	i.await("the tracker has a key", func() bool { return i.there("/var/lib/private/mob-tracker/tracker/key") })
	i.write("/etc/systemd/system/mob-tracker.service.d/secret.conf", "[Service]\nLoadCredential=network:/etc/mob/network\n")
	i.run("sed", "-i", "/^TRACKER_FLAGS=/s#$# --network /run/credentials/mob-tracker.service/network#", "/etc/mob/tracker.env")
	i.run("systemctl", "daemon-reload")
	i.run("systemctl", "restart", "mob-tracker")
	if state, _ := i.try("root", "systemctl", "is-active", "mob-tracker"); state != "active" {
		i.t.Errorf("the tracker is %s", state)
	}
}

// removal: a removal stops what runs, a purge removes the state of mob, and nothing removes
// the content, wherever it is.
func (i *installation) removal() {
	i.t.Helper()
	i.run("cp", "/srv/content/big", data+"/content")
	tracker := strings.Fields(i.run("mob", "--data", "/srv/tracker", "network", "id", "--tracker"))[0]
	i.run("mob", "--data", data, "feed", "new", "weights", "--tracker", "/ip4/127.0.0.1/tcp/4000/p2p/"+tracker)
	i.run(i.pm.remove...)
	if who, err := i.try("root", "pgrep", "-u", "mob"); err == nil {
		i.t.Errorf("processes %s of mob run after the removal", who)
	}
	for _, name := range []string{"/usr/bin/mob", "/usr/bin/mob-agent", "/usr/lib/systemd/system/mobd.service"} {
		if i.there(name) {
			i.t.Errorf("%s exists after the removal", name)
		}
	}
	if !i.there(data + "/key") {
		i.t.Error("the removal lost the key")
	}
	if i.pm.purge == nil {
		return
	}
	i.run(i.pm.purge...)
	if left := i.run("ls", "-A", data); left != "content" {
		i.t.Errorf("the purge leaves %q, want the content alone", left)
	}
	if left := i.run("ls", "-A", "/srv/content"); left != "big" {
		i.t.Errorf("the purge leaves %q in /srv/content", left)
	}
	for _, name := range []string{"/var/lib/mob-tracker", "/var/lib/private/mob-tracker", "/etc/mob/mobd.toml"} {
		if i.there(name) {
			i.t.Errorf("%s exists after the purge", name)
		}
	}
	i.run("id", "mob") // who owns the content
}
