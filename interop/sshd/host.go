package sshd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// Config describes a host.
type Config struct {
	Node *netns.Node
	// Name of the host for the client. Empty: the node's name, such as B2.
	Name string
	// LoginShell of the user. Empty: root's shell on this machine.
	LoginShell string
	// Programs is a directory of this machine that the host has as /usr/local/bin. Empty: the
	// directory of this machine.
	Programs string
	// Hide is a directory of this machine that the host does not have, or only empty. Empty:
	// none.
	Hide string
	// HostKey is the path of the server's private key. Empty: that which the client
	// expects.
	HostKey string
	// Server has further lines for the server's configuration, such as "MaxStartups 10".
	Server []string
	// Client has further lines for the client's, such as "ProxyJump A1".
	Client []string
	// Mounts is a script for sh that runs before the server starts, among the mounts of
	// the host.
	Mounts string
}

// Host is a node with a server. Its methods may be called from any goroutine.
type Host struct {
	Name string
	Node *netns.Node

	dir  string
	proc *netns.Program
	pids string // its namespace of processes, as /proc names it
}

// startTimeout bounds the time until a server listens.
const startTimeout = 2 * time.Minute

// bootScript makes the mounts of a host. The directory of the site may be below one that is
// covered here, so it is mounted on /mnt first.
const bootScript = `set -e
name=$1 home=$2 programs=$3 hide=$4 mounts=$5
mount --make-rprivate /
mount --bind "$SITE" /mnt
mount -t proc proc /proc
[ -z "$programs" ] || mount --bind "$programs" /usr/local/bin
[ -z "$hide" ] || mount -t tmpfs -o size=64k tmpfs "$hide"
mount --bind "/mnt/$name/home" "$home"
mount --bind "/mnt/$name/run" /run
mount --bind /mnt/client /run/client
mount --bind /run/passwd /etc/passwd
mount --bind "/mnt/$name/var-tmp" /var/tmp
mount --bind "/mnt/$name/shm" /dev/shm
mount --bind "/mnt/$name/tmp" /tmp
umount /mnt
eval "$mounts"
unset SITE
cd /
exec ` + server + ` -D -e -f /run/sshd_config
`

// Start makes a host of a node, and returns when its server accepts connections.
func (s *Site) Start(c Config) (*Host, error) {
	h := &Host{Name: c.Name, Node: c.Node}
	if h.Name == "" {
		h.Name = c.Node.Name()
	}
	h.dir = filepath.Join(s.dir, h.Name)
	shell, err := s.files(h, c)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("sh", "-c", bootScript, "boot", h.Name, home(), c.Programs, c.Hide, c.Mounts)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SITE=" + s.dir}
	isolate(cmd)
	if err := h.start(cmd); err != nil {
		return nil, fmt.Errorf("host %s: %w", h.Name, err)
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(s.pids(), h.Name), fmt.Appendln(nil, h.Pid(), shell), 0o600),
		s.add(h, c.Client),
	)
	if err != nil {
		return nil, errors.Join(err, h.Kill())
	}
	return h, nil
}

// StartAll is Start for many hosts. If one fails, or ctx ends, the caller must close the
// site.
func (s *Site) StartAll(ctx context.Context, all []Config) ([]*Host, error) {
	hosts := make([]*Host, len(all))
	return hosts, netns.Concurrently(len(all), func(i int) (err error) {
		if err = ctx.Err(); err == nil {
			hosts[i], err = s.Start(all[i])
		}
		return err
	})
}

// files makes the directories of a host and the files of its server. It returns the login
// shell.
func (s *Site) files(h *Host, c Config) (shell string, err error) {
	for _, d := range []string{"home", "tmp", "var-tmp", "shm", "run/client", "run/sshd"} {
		if err := os.MkdirAll(filepath.Join(h.dir, d), 0o755); err != nil {
			return "", err
		}
	}
	for _, d := range []string{"tmp", "var-tmp", "shm"} {
		if err := os.Chmod(filepath.Join(h.dir, d), os.ModeSticky|0o777); err != nil {
			return "", err
		}
	}
	from := c.HostKey
	if from == "" {
		from = s.hostKey()
	}
	key, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	passwd, shell, err := passwdWith(c.LoginShell)
	if err != nil {
		return "", err
	}
	config := fmt.Sprintf(`ListenAddress %v
HostKey /run/host_key
AuthorizedKeysFile %s/id.pub
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
UseDNS no
PrintMotd no
PidFile none
Subsystem sftp internal-sftp
%s
`, h.Node.IP, clientOnHost, strings.Join(c.Server, "\n"))
	return shell, errors.Join(
		os.WriteFile(filepath.Join(h.dir, "run/host_key"), key, 0o600),
		os.WriteFile(filepath.Join(h.dir, "run/sshd_config"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(h.dir, "run/passwd"), passwd, 0o644),
	)
}

// home is the home directory of root.
func home() string {
	if u, err := user.LookupId("0"); err == nil {
		return u.HomeDir
	}
	return "/root"
}

// passwdWith is this machine's table of users, with another login shell for root unless
// that is empty. It also returns root's shell.
func passwdWith(shell string) (table []byte, of string, err error) {
	old, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return nil, "", err
	}
	for line := range bytes.Lines(old) {
		f := strings.Split(strings.TrimSpace(string(line)), ":")
		if len(f) == 7 && f[0] == "root" {
			if shell != "" {
				f[6] = shell
			}
			of = f[6]
			line = []byte(strings.Join(f, ":") + "\n")
		}
		table = append(table, line...)
	}
	if of == "" {
		return nil, "", errors.New("/etc/passwd has no root with a shell")
	}
	return table, of, nil
}

// start runs the server and waits until it listens. Its log is a file.
func (h *Host) start(cmd *exec.Cmd) (err error) {
	h.proc, err = h.Node.StartProgram(cmd, h.Log())
	if err != nil {
		return err
	}
	var log []byte
	for end := time.Now().Add(startTimeout); h.proc.Failed() == nil && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		log, _ = os.ReadFile(h.Log())
		if bytes.Contains(log, []byte("Server listening on")) {
			h.pids, err = os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", h.Pid()))
			return err
		}
	}
	return errors.Join(fmt.Errorf("the server did not start: %s", bytes.TrimSpace(log)), h.Kill())
}

// Log is the path of what the server logs.
func (h *Host) Log() string { return filepath.Join(h.dir, "log") }

// Home is the path on this machine of the user's home directory on the host.
func (h *Host) Home() string { return filepath.Join(h.dir, "home") }

// Temporary lists the paths on this machine of the host's directories for temporary files.
func (h *Host) Temporary() []string {
	return []string{filepath.Join(h.dir, "tmp"), filepath.Join(h.dir, "var-tmp"), filepath.Join(h.dir, "shm")}
}

// Path is the path on this machine of a file of the host, by its absolute path there, while
// the host runs.
func (h *Host) Path(name string) string { return fmt.Sprintf("/proc/%d/root%s", h.Pid(), name) }

// Pid is the process ID of the server, on this machine.
func (h *Host) Pid() int { return h.proc.Pid() }

// Kill ends everything on the host, as when it loses its power. It may be called again.
func (h *Host) Kill() error { return h.proc.Kill() }

// HomeOnHosts is the path on every host of the user's home directory.
func HomeOnHosts() string { return home() }
