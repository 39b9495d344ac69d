package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/sshd"
)

// Copier is a program, or a line for the shell, that copies a file to a list of hosts.
type Copier struct {
	name string
	// needs are the commands without which it does not run; pkg is their package, empty if
	// Debian has none.
	needs []string
	pkg   string
	// multicast cannot leave a cluster.
	multicast bool
	// script runs it on the source, with the names of the hosts as arguments and the
	// variables of [Copier.Prepare].
	script string
}

// Copiers lists every copier.
func Copiers() []Copier {
	return []Copier{
		{name: "scp", needs: []string{"scp"}, pkg: "openssh-client", script: scpScript},
		{name: "tar", needs: []string{"tar"}, pkg: "tar", script: tarScript},
		{name: "taktuk", needs: []string{"taktuk"}, pkg: "taktuk", script: taktukScript},
		{name: "udpcast", needs: []string{"udp-sender", "udp-receiver"}, pkg: "udpcast", multicast: true, script: udpcastScript},
		{name: "kascade", needs: []string{"kascade"}, script: kascadeScript},
	}
}

// The scripts. Where programs have options for speed, they are the options of someone who read
// the manual; all else is the default.
const (
	// One host after another.
	scpScript = `for host; do scp -q -F "$CONFIG" "$CONTENT" "$host:$COPY" || exit; done`

	// In rounds, each host that has a copy sends it to one that has none.
	tarScript = `have=
while [ $# -gt 0 ]; do
  running= got=
  for from in source $have; do
    [ $# -gt 0 ] || break
    if [ "$from" = source ]; then
      tar -c -P --transform 's/.*/copy/' "$CONTENT" | ssh -F "$CONFIG" "$1" tar -x &
    else
      ssh -n -F "$CONFIG" "$from" "tar -c copy | ssh -F $CONFIG_ON_HOSTS $1 tar -x" &
    fi
    running="$running $!" got="$got $1"
    shift
  done
  for pid in $running; do wait "$pid" || exit; done
  have="$have $got"
done`

	// The source logs in to all hosts, which the default does too when it is quick.
	taktukScript = `taktuk -c "ssh -F $CONFIG" -d -1 $(printf -- '-m %s ' "$@") broadcast put [ "$CONTENT" ] [ "$COPY" ]`

	udpcastScript = `for host; do
  ssh -n -F "$CONFIG" "$host" udp-receiver --nokbd --interface eth0 --file "$COPY" &
done
udp-sender --nokbd --interface eth0 --full-duplex --min-receivers $# --file "$CONTENT" || exit
wait`

	kascadeScript = `kascade -D taktuk -I -w -S "ssh -F $CONFIG" -N "$ADDRESSES" -i "$CONTENT" -o "$COPY"`
)

// Name implements [System].
func (c Copier) Name() string { return c.name }

// Missing implements [System].
func (c Copier) Missing() error {
	errs := []error{sshd.Missing()}
	for _, command := range c.needs {
		if _, err := exec.LookPath(command); err == nil {
			continue
		}
		if c.pkg == "" {
			errs = append(errs, fmt.Errorf("there is no program %s on the path", command))
		} else {
			errs = append(errs, fmt.Errorf("%[1]s is not installed: apt-get install %[1]s", c.pkg))
		}
	}
	return errors.Join(errs...)
}

// Prepare implements [System]: it starts the servers of ssh.
func (c Copier) Prepare(ctx context.Context, site Site) (Transfer, error) {
	if clusters := byCluster(append([]*netns.Node{site.Source}, site.Receivers...)); c.multicast && len(clusters) > 1 {
		return nil, fmt.Errorf("%s needs a single cluster: routers do not pass its multicast", c.name)
	}
	r, err := newRemote(ctx, site, sshd.Config{})
	if err != nil {
		return nil, err
	}
	var hosts, addresses []string
	for _, n := range site.Receivers {
		hosts = append(hosts, n.Name())
		addresses = append(addresses, n.IP.String())
	}
	r.command = r.program("sh", append([]string{"-c", c.script, c.name}, hosts...)...)
	r.command.Env = append(r.command.Env, "CONTENT="+site.Content, "COPY="+copyPath(), "ADDRESSES="+strings.Join(addresses, ","),
		"CONFIG="+r.hosts.ClientConfig(), "CONFIG_ON_HOSTS="+sshd.ClientConfigOnHosts)
	return r, nil
}
