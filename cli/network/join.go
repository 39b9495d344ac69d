package network

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/deploy"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/proto"
)

const joinHelp = `Sets this machine up as a node of a network: writes the configuration of mobd, beside it
the node's certificate or the network's secret. It starts nothing, and prints the commands
that are left to do.

LINE is what "mob network show --join" prints. With the certificate of this node, the
cluster is the certificate's. A line with the secret is read from standard input (-) or
a file (@PATH) only, since other users see arguments. With neither, the certificate goes
where the command says, once it is signed. As root the data directory is /var/lib/mob
unless --data or $MOB_DATA says otherwise.

If files exist and differ, their names are printed and nothing is written, unless --force
is given.`

const joinExample = `  mob network show node7.cert --join --tracker "$TRACKER" | ssh node7 sudo mob join -
  sudo mob join - --cluster geneva < line
  mob join LINE --config ~/mob/mobd.toml --data ~/mob/data`

// The paths and the user of the package.
const (
	systemConfig = "/etc/mob/mobd.toml"
	systemData   = "/var/lib/mob"
	systemUser   = "mob"
)

// joinFlags are the flags of join.
type joinFlags struct {
	cluster string
	listen  []string
	config  string
	force   bool
	data    string
	set     *pflag.FlagSet
}

func newJoin(a *command.App) *cobra.Command {
	var f joinFlags
	return a.Command(command.Spec{
		Use: "join LINE", Short: "Set this machine up as a node of a network", Long: joinHelp, Example: joinExample,
		Args: command.Args(1, "LINE"), Flags: f.add, Run: f.run,
	})
}

func (f *joinFlags) add(fl *pflag.FlagSet) {
	f.set = fl
	fl.StringVar(&f.cluster, "cluster", "", "cluster of this node; the certificate's by default")
	fl.StringArrayVar(&f.listen, "listen", []string{"/ip4/0.0.0.0/tcp/4001"}, "address to listen on; repeatable")
	fl.StringVar(&f.config, "config", systemConfig, "configuration file to write; certificate and secret go to its directory")
	fl.BoolVar(&f.force, "force", false, "overwrite files that differ")
}

func (f *joinFlags) run(ctx context.Context, a *command.App, args []string) error {
	f.data = a.Data
	if os.Geteuid() == 0 && !f.set.Changed("data") && a.Getenv("MOB_DATA") == "" {
		f.data = systemData
	}
	line, err := a.ReadArg(ctx, args[0])
	if err != nil {
		return err
	}
	in, err := membership.ParseInvitation(line)
	if err != nil {
		return command.Usagef("%w", err)
	}
	if in.Secret != nil && line == args[0] {
		return command.Usagef("the line has the secret of the network, and other users see arguments: " +
			"give - instead, and the line on standard input")
	}
	j, err := f.plan(in)
	if err != nil {
		return command.Usagef("%w", err)
	}
	return j.write(a, f.force)
}

// joinFile is a file to write.
type joinFile struct {
	path string
	b    []byte
	mode os.FileMode
}

// privateMode is the mode of files for mobd only.
const privateMode = 0o600

// joinPlan lists the files to write and the remaining commands.
type joinPlan struct {
	files []joinFile
	next  []string // commands that are left to the user
}

// joinConfig is the configuration of mobd that join writes.
type joinConfig struct {
	Cluster     string   `toml:"cluster,omitempty"`
	Listen      []string `toml:"listen"`
	Data        string   `toml:"data"`
	Tracker     []string `toml:"tracker,omitempty"`
	Network     string   `toml:"network"`
	Certificate string   `toml:"certificate,omitempty"`
}

// plan checks everything, and returns the files to write.
func (f *joinFlags) plan(in *membership.Invitation) (*joinPlan, error) {
	if _, err := daemon.ParseListen(f.listen); err != nil {
		return nil, err
	}
	if _, err := daemon.ParseTrackers(in.Trackers); err != nil {
		return nil, fmt.Errorf("the line is invalid: %w", err)
	}
	if err := f.setCluster(in); err != nil {
		return nil, err
	}
	var err error
	if f.data, err = command.DataDir(f.data); err != nil {
		return nil, err
	}
	if f.config, err = filepath.Abs(f.config); err != nil {
		return nil, err
	}
	cfg := joinConfig{
		Cluster: f.cluster, Listen: f.listen, Data: f.data, Tracker: in.Trackers,
		Network: in.Network.String(), Certificate: filepath.Join(filepath.Dir(f.config), "certificate"),
	}
	j := new(joinPlan)
	switch {
	case in.Secret != nil:
		cfg.Network, cfg.Certificate = filepath.Join(filepath.Dir(f.config), "network"), ""
		j.files = append(j.files, joinFile{cfg.Network, in.Secret.PEM(), privateMode})
	case in.Grant != nil:
		j.files = append(j.files, joinFile{cfg.Certificate, in.Grant.PEM(), privateMode})
	default:
		j.next = append(j.next, fmt.Sprintf("write the certificate of this node to %s: `mob --data %s network id`, "+
			"as the user of mobd, prints the id to sign for", cfg.Certificate, f.data))
	}
	text, err := toml.Marshal(&cfg)
	if err != nil {
		return nil, err
	}
	text = append([]byte("# Written by `mob join`. The keys are the flags of `mobd --help` by their names.\n"), text...)
	j.files = append(j.files, joinFile{f.config, text, 0o644})
	start := []string{"mobd --config " + f.config}
	if _, err := os.Stat("/usr/lib/systemd/system/mobd.service"); err == nil && f.config == systemConfig && f.data == systemData {
		start = []string{"systemctl enable mobd", "systemctl restart mobd"} // it may run
	}
	j.next = append(j.next, start...)
	return j, nil
}

// setCluster takes the cluster of the certificate, and checks it.
func (f *joinFlags) setCluster(in *membership.Invitation) error {
	switch {
	case in.Grant != nil:
		if err := daemon.CheckRoles(in.Grant, membership.DefaultRoles); err != nil {
			return err
		}
		if c := in.Grant.Certificate.Cluster; f.cluster != "" && f.cluster != c {
			return fmt.Errorf("--cluster: the certificate is for the cluster %s", c)
		}
		f.cluster = in.Grant.Certificate.Cluster
	case f.cluster != "":
	case in.Secret != nil:
		return errors.New("--cluster is missing: name the cluster of this node")
	default:
		return nil // the certificate will have it
	}
	if err := proto.CheckCluster(f.cluster); err != nil {
		return fmt.Errorf("--cluster: %w", err)
	}
	return nil
}

// write writes the files, or none if an existing file differs.
func (j *joinPlan) write(a *command.App, force bool) (err error) {
	if !force {
		if err := j.checkFiles(); err != nil {
			return err
		}
	}
	w := term.NewTextWriter(a.Out)
	defer func() { err = errors.Join(err, w.Flush()) }()
	for i, f := range j.files {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return err
		}
		if err := datadir.WriteFile(f.path, f.b, f.mode); err != nil {
			return fmt.Errorf("cannot write %s: %w", f.path, err)
		}
		if f.mode == privateMode {
			if err := giveAway(f.path); err != nil {
				return err
			}
		}
		w.Line("%s%s", term.Heading("wrote", i), f.path)
	}
	term.List(w, "next", j.next)
	return nil
}

// checkFiles fails if existing files differ, other than the configuration of the package.
func (j *joinPlan) checkFiles() error {
	var differ []string
	for _, f := range j.files {
		switch b, err := os.ReadFile(f.path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !bytes.Equal(b, f.b) && !bytes.Equal(b, deploy.Config):
			differ = append(differ, f.path)
		}
	}
	if differ == nil {
		return nil
	}
	return fmt.Errorf("nothing was written: --force overwrites %s", strings.Join(differ, ", "))
}

// giveAway gives a file to the user that the unit runs mobd as, if that user exists.
func giveAway(path string) error {
	u, err := user.Lookup(systemUser)
	if err != nil || os.Geteuid() != 0 {
		return nil
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	return os.Chown(path, uid, -1)
}
