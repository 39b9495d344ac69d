package sshd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// server is the program, which re-executes itself and so needs its path.
const server = "/usr/sbin/sshd"

// Missing is nil if this machine has OpenSSH's server and client; otherwise it names the package to
// install.
func Missing() error {
	var errs []error
	for _, p := range []struct{ command, pkg string }{{server, "openssh-server"}, {"ssh", "openssh-client"}} {
		if _, err := exec.LookPath(p.command); err != nil {
			errs = append(errs, fmt.Errorf("%[1]s is not installed: apt-get install %[1]s", p.pkg))
		}
	}
	return errors.Join(errs...)
}

// Site is hosts that have a user in common, who is root and logs in to all of them with one
// key. Its methods may be called from any goroutine.
type Site struct {
	dir string

	// mu guards the files of the client, and what follows.
	mu    sync.Mutex
	hosts []*Host
}

// New makes a site without hosts. All its files are in dir: a directory for each host, named
// after it, and the client's files.
func New(dir string) (*Site, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &Site{dir: dir}
	for _, d := range []string{s.client(), s.pids()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	for _, key := range []string{filepath.Join(s.client(), "id"), s.hostKey()} {
		if err := NewKey(key); err != nil {
			return nil, err
		}
	}
	public, err := os.ReadFile(s.hostKey() + ".pub")
	if err != nil {
		return nil, err
	}
	return s, errors.Join(
		os.WriteFile(filepath.Join(s.client(), "known_hosts"), append([]byte("* "), public...), 0o600),
		os.WriteFile(s.ClientConfig(), []byte(clientConfig(s.client())), 0o600),
		os.WriteFile(filepath.Join(s.client(), "config.hosts"), []byte(clientConfig(clientOnHost)), 0o600),
		os.WriteFile(s.Enter(), []byte(enterScript(s.pids())), 0o700),
	)
}

// NewKey makes a private key at path, and the public one beside it.
func NewKey(path string) error {
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ssh-keygen: %w: %s", err, out)
	}
	return nil
}

// ClientConfig is the path of a configuration for the user's logins: ssh -F.
func (s *Site) ClientConfig() string { return filepath.Join(s.client(), "config") }

// ClientConfigOnHosts is the path on every host of the same configuration, to log in from
// one host to another.
const ClientConfigOnHosts = clientOnHost + "/config.hosts"

// clientOnHost is the place where hosts have the directory of the client.
const clientOnHost = "/run/client"

// Enter is the path of a program that takes the place of ssh: called with a host and a
// command line, it runs the command line there. It enters the namespaces of the host, so
// nothing passes the network, and it starts faster.
func (s *Site) Enter() string { return filepath.Join(s.client(), "enter") }

func (s *Site) client() string  { return filepath.Join(s.dir, "client") }
func (s *Site) pids() string    { return filepath.Join(s.dir, "pids") }
func (s *Site) hostKey() string { return filepath.Join(s.dir, "host_key") }

func clientConfig(dir string) string {
	return fmt.Sprintf(`Host *
User root
IdentityFile %[1]s/id
IdentitiesOnly yes
UserKnownHostsFile %[1]s/known_hosts
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking yes
CheckHostIP no
BatchMode yes
RequestTTY no
ConnectTimeout 60
LogLevel ERROR
`, dir)
}

// enterScript finds the process of a host in a file with its name. What it runs on the host
// is in its own session there, as with a server, and stays when this end is killed.
func enterScript(pids string) string {
	return `#!/bin/sh
read -r pid shell <` + quote(pids) + `/"$1" || exit 255
shift
exec nsenter --target "$pid" --mount --net --pid -- setsid env -i \
  HOME=` + quote(home()) + ` USER=root LOGNAME=root SHELL="$shell" PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
  sh -c 'cd && exec "$SHELL" -c "$0"' "$*"
`
}

// quote quotes s as one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// add makes a host known to the client, under its name. Options are further lines for it.
func (s *Site) add(h *Host, options []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := fmt.Sprintf("Host %s\nHostName %v\n", h.Name, h.Node.IP) + strings.Join(append(options, ""), "\n")
	for _, config := range []string{s.ClientConfig(), filepath.Join(s.client(), "config.hosts")} {
		if err := appendTo(config, lines); err != nil {
			return err
		}
	}
	s.hosts = append(s.hosts, h)
	return nil
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Close ends all hosts.
func (s *Site) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, h := range s.hosts {
		errs = append(errs, h.Kill())
	}
	return errors.Join(errs...)
}
