package cast

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mobgrid/mob/cast/hostset"
	"github.com/mobgrid/mob/proto"
)

// DefaultCluster is the cluster of hosts without a named one.
const DefaultCluster = "default"

// maxHostFile bounds a list of hosts, in bytes.
const maxHostFile = 64 << 20

// Host is a receiver of a cast.
type Host struct {
	// Name is the argument of the remote shell.
	Name string
	// Cluster is the name of the cluster.
	Cluster string
}

// Expand replaces %h in a text by the name of the host, %c by its cluster, and %% by a percent sign. Other characters after a
// percent sign are an error.
func (h Host) Expand(text string) (string, error) {
	rest := strings.NewReplacer("%h", "", "%c", "", "%%", "").Replace(text)
	switch _, after, found := strings.Cut(rest, "%"); {
	case found && after == "":
		return "", fmt.Errorf("%q ends with a single %%: write %%%% for a percent sign", text)
	case found:
		r := []rune(after)[0]
		return "", fmt.Errorf("%q has %%%c: there are %%h (host), %%c (cluster) and %%%% (a percent sign)", text, r)
	}
	return strings.NewReplacer("%h", h.Name, "%c", h.Cluster, "%%", "%").Replace(text), nil
}

// Hosts returns the hosts of the specs in order. A spec is [CLUSTER=] and one of
//
//	HOSTSET  a set, see package hostset
//	@FILE    a file of lines "HOSTSET [CLUSTER]" with # comments
//	-        such lines from stdin
//	slurm    the nodes of the Slurm job: $SLURM_JOB_NODELIST
//
// Hosts without a cluster are in [DefaultCluster]. A spec without hosts, or a duplicate host, is an error.
func Hosts(specs []string, env func(string) string, stdin io.Reader) ([]Host, error) {
	l := &hostList{where: map[string]string{}}
	for _, spec := range specs {
		if err := l.addSpec(spec, env, stdin); err != nil {
			return nil, err
		}
	}
	if len(l.hosts) == 0 {
		return nil, errors.New("no hosts are named")
	}
	return l.hosts, nil
}

// hostList collects hosts.
type hostList struct {
	hosts []Host
	where map[string]string // the spec or line of a host
	stdin bool              // standard input was read
}

func (l *hostList) addSpec(spec string, env func(string) string, stdin io.Reader) error {
	cluster, text, named := strings.Cut(spec, "=")
	if !named {
		cluster, text = DefaultCluster, spec
	}
	if err := proto.CheckCluster(cluster); err != nil {
		return fmt.Errorf("%s: %w", spec, err)
	}
	file, isFile := strings.CutPrefix(text, "@")
	switch {
	case isFile:
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		return l.addLines(f, file, cluster)
	case text == "-" && l.stdin:
		return errors.New("duplicate -: standard input contains one list of hosts")
	case text == "-":
		l.stdin = true
		return l.addLines(stdin, "standard input", cluster)
	case text == "slurm":
		if text = env("SLURM_JOB_NODELIST"); text == "" {
			return errors.New("slurm: $SLURM_JOB_NODELIST is not set: run the command in an allocation (salloc, sbatch)")
		}
	}
	return l.add(text, cluster, spec)
}

// addLines adds the hosts of a file. cluster is the cluster of lines without one.
func (l *hostList) addLines(r io.Reader, name, cluster string) error {
	b, err := io.ReadAll(io.LimitReader(r, maxHostFile+1))
	if err != nil {
		return err
	}
	if len(b) > maxHostFile {
		return fmt.Errorf("%s has more than %d bytes", name, maxHostFile)
	}
	before, number := len(l.hosts), 0
	for line := range strings.Lines(string(b)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields, of := strings.Fields(line), cluster
		at := fmt.Sprintf("%s:%d", name, number)
		switch len(fields) {
		case 0:
			continue
		case 1:
		case 2:
			of = fields[1]
			if err := proto.CheckCluster(of); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
		default:
			return fmt.Errorf("%s: must be HOSTSET [CLUSTER], not %d words", at, len(fields))
		}
		if err := l.add(fields[0], of, at); err != nil {
			return err
		}
	}
	if len(l.hosts) == before {
		return fmt.Errorf("%s names no hosts", name)
	}
	return nil
}

// add adds the hosts of a set in a spec or line.
func (l *hostList) add(text, cluster, at string) error {
	names, err := hostset.Parse(text)
	switch {
	case err != nil && at == text:
		return err
	case err != nil:
		return fmt.Errorf("%s: %w", at, err)
	case len(names) == 0:
		return fmt.Errorf("%s: no host is left", at)
	case len(l.hosts)+len(names) > hostset.MaxHosts:
		return fmt.Errorf("%s: more than %d hosts", at, hostset.MaxHosts)
	}
	for _, name := range names {
		if other, ok := l.where[name]; ok {
			return fmt.Errorf("duplicate host %s: in %s and %s", name, other, at)
		}
		l.where[name] = at
		l.hosts = append(l.hosts, Host{name, cluster})
	}
	return nil
}
