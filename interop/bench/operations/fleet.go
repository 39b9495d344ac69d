package operations

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/workers"
)

// Operation is an operation of all members, with values of some bytes. The values of a shuffle merge to one with Merge.
type Operation struct {
	Name    string
	Op      string
	Bytes   int
	Merge   bool
	Repeats int
	// Slower divides the rates of the links. Zero does not.
	Slower float64
	// Systems are the systems that finish in reasonable time.
	Systems []string
	// Target is the most seconds, and Copies the most copies into a cluster, of mob. Zero means no target.
	Target, Copies float64
}

func (o *Operation) line() string {
	merge := 0
	if o.Merge {
		merge = 1
	}
	return fmt.Sprintf("%s %d %d %d\n", o.Op, o.Bytes, merge, o.Repeats)
}

// Operations returns the operations of the comparison.
func Operations() []Operation {
	return []Operation{
		{Name: "AllReduce, 8 kB", Op: "allreduce", Bytes: 8000, Repeats: 10, Systems: Systems(), Target: 0.06},
		{Name: "AllReduce, 800 kB", Op: "allreduce", Bytes: 800_000, Repeats: 10, Systems: Systems(), Target: 0.35, Copies: 1.65},
		{Name: "AllReduce, 120 MB", Op: "allreduce", Bytes: 120_000_000, Repeats: 1, Systems: []string{"mob"}, Target: 18.75},
		{Name: "AllReduce, 30 MB, rates / 4", Op: "allreduce", Bytes: 30_000_000, Repeats: 1, Systems: []string{"mob"}, Target: 18.75, Slower: 4},
		{Name: "Reduce, 8 MB", Op: "reduce", Bytes: 8_000_000, Repeats: 1, Systems: Systems()},
		{Name: "Shuffle, 16 x 1 MB", Op: "shuffle", Bytes: 1_000_000, Repeats: 1, Systems: Systems()},
		{Name: "Shuffle with local reduction", Op: "shuffle", Bytes: 1_000_000, Merge: true, Repeats: 1, Systems: Systems()},
		{Name: "Gather, 1 MB", Op: "gather", Bytes: 1_000_000, Repeats: 1, Systems: Systems()},
	}
}

// Systems returns the names of the systems: "tcp" sends everything to the root, or to the receiver.
func Systems() []string { return []string{"mob", "tcp", "mpich", "openmpi"} }

// Missing returns the reason why a system cannot run here, or nil.
func Missing(system string) error {
	m, ok := mpis[system]
	if !ok {
		return nil
	}
	for _, program := range []string{m.compiler, m.start[0]} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not installed: apt-get install %s", program, m.packages)
		}
	}
	return nil
}

// mpi is an implementation of MPI. Several can be installed, so programs are named by theirs.
type mpi struct {
	packages, compiler string
	start              []string // followed by the remote shell, hosts, the hosts, and the rest
	hosts              string
	rest               []string
}

//nolint:gochecknoglobals // constants
var mpis = map[string]mpi{
	"mpich": {
		packages: "mpich", compiler: "mpicc.mpich", hosts: "-hosts", rest: []string{"-ppn", "1"},
		start: []string{"mpiexec.hydra", "-iface", "eth0", "-launcher", "rsh", "-launcher-exec"},
	},
	"openmpi": {
		packages: "openmpi-bin libopenmpi-dev", compiler: "mpicc.openmpi", hosts: "--host",
		start: []string{
			"mpirun.openmpi", "--allow-run-as-root", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "eth0",
			"--mca", "oob_tcp_if_include", "eth0", "--mca", "pml", "ob1", "--mca", "mpi_yield_when_idle", "1", // for more processes than cores
			"--mca", "routed", "direct", "--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "orte_leave_session_attached", "1",
			"--mca", "plm_rsh_agent",
		},
	},
}

// fleet is the processes of a system.
type fleet struct {
	grid    *netns.Grid
	dir     string
	inputs  []io.WriteCloser
	outputs []*bufio.Reader
	all     []*netns.Process
}

// Result has the measurements of a run of an operation.
type Result struct {
	Seconds []float64          // of the slowest member in each repeat
	In      map[string]float64 // bytes of a repeat that entered each cluster at its interfaces
	Machine float64            // share of the time of all cores in which they were busy
}

// Run runs an operation with a system on a new grid.
func Run(ctx context.Context, system string, o Operation) (r Result, err error) {
	f := new(fleet)
	if f.grid, err = workers.NewGrid(max(o.Slower, 1)); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.grid.Close()) }()
	if f.dir, err = os.MkdirTemp("", "mob-bench-"); err != nil {
		return r, err
	}
	defer os.RemoveAll(f.dir)
	defer context.AfterFunc(ctx, func() { // ends reads of outputs
		for _, p := range f.all {
			_ = p.Kill()
		}
	})()
	if m, ok := mpis[system]; ok {
		err = f.startMPI(m)
	} else {
		err = f.startMembers(system)
	}
	if err == nil { // opens connections and congestion windows
		_, err = f.do(Operation{Op: o.Op, Bytes: min(o.Bytes, 1_000_000), Merge: o.Merge, Repeats: min(o.Repeats, 3)})
	}
	if err == nil {
		r, err = f.do(o)
	}
	return r, errors.Join(err, ctx.Err())
}

// start starts a process in a node.
func (f *fleet) start(n *netns.Node, cmd *exec.Cmd) error {
	p, in, out, err := workers.Start(n, cmd)
	if err != nil {
		return err
	}
	f.all, f.inputs, f.outputs = append(f.all, p), append(f.inputs, in), append(f.outputs, bufio.NewReader(out))
	return nil
}

// nodes returns all nodes of the grid in order.
func (f *fleet) nodes() []*netns.Node {
	return slices.Concat(f.grid.Nodes("A"), f.grid.Nodes("B"), f.grid.Nodes("C"), f.grid.Nodes("D"))
}

// startMembers starts a member in each node, the root first. Each prints a line when it listens, and one when all are connected.
func (f *fleet) startMembers(system string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	m := Member{System: system, Size: len(f.nodes())}
	for i, n := range f.nodes() {
		m.Rank, m.Cluster, m.IP, m.Data = i, n.Cluster, n.IP.String(), filepath.Join(f.dir, n.Name())
		b, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if err := f.start(n, exec.Command(exe, "collective", "--member", string(b))); err != nil {
			return err
		}
		addr, err := f.outputs[i].ReadString('\n')
		if err != nil {
			return fmt.Errorf("member %s: %w", n.Name(), err)
		}
		m.Addrs = append(m.Addrs, strings.TrimSpace(addr))
	}
	return f.ready()
}

// ready waits until all processes print an empty list.
func (f *fleet) ready() error {
	for _, out := range f.outputs {
		if _, err := out.ReadString('\n'); err != nil {
			return fmt.Errorf("start: %w", err)
		}
	}
	return nil
}

//go:embed mpi.c.txt
var mpiProgram []byte

// startMPI compiles the program and starts it. Its remote shell enters the namespaces: it gets the address of a node, and the process id
// of one of its processes is the name of a file.
func (f *fleet) startMPI(m mpi) error {
	program, source, shell := filepath.Join(f.dir, "operations"), filepath.Join(f.dir, "mpi.c"), filepath.Join(f.dir, "rsh")
	script := `#!/bin/sh
host=$1; shift
[ "$1" = -x ] && shift
cd ` + f.dir + `
mkdir -p $host
TMPDIR=$PWD/$host exec nsenter -t "$(cat pid-$host)" -n sh -c "$*"
`
	err := errors.Join(os.WriteFile(source, mpiProgram, 0o600), os.WriteFile(shell, []byte(script), 0o700))
	if err != nil {
		return err
	}
	if out, err := exec.Command(m.compiler, "-O2", "-o", program, source).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", m.compiler, err, out)
	}
	var hosts []string
	for _, n := range f.nodes() {
		holder := exec.Command("sleep", "1h")
		p, err := n.Start(holder)
		if err != nil {
			return err
		}
		f.all = append(f.all, p)
		hosts = append(hosts, n.IP.String())
		if err := os.WriteFile(filepath.Join(f.dir, "pid-"+n.IP.String()), []byte(fmt.Sprint(p.Pid())), 0o600); err != nil {
			return err
		}
	}
	// mpiexec starts processes in new sessions, which a kill of its group does not reach. They end with their process namespace.
	args := slices.Concat([]string{"--pid", "--fork", "--kill-child"}, m.start, []string{shell, m.hosts, strings.Join(hosts, ",")}, m.rest)
	cmd := exec.Command("unshare", append(args, "-n", fmt.Sprint(len(hosts)), program)...)
	cmd.Env = append(os.Environ(), "FI_PROVIDER=tcp", "FI_TCP_IFACE=eth0", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=eth0", "MPIR_CVAR_NOLOCAL=1")
	if err := f.start(f.nodes()[0], cmd); err != nil {
		return err
	}
	return f.ready()
}

// do runs an operation.
func (f *fleet) do(o Operation) (r Result, err error) {
	before, err := f.grid.LinkBytes()
	if err != nil {
		return r, err
	}
	share := bench.MachineShare()
	for _, w := range f.inputs {
		if _, err := io.WriteString(w, o.line()); err != nil {
			return r, err
		}
	}
	r.Seconds, r.In = make([]float64, o.Repeats), map[string]float64{}
	for _, out := range f.outputs {
		line, err := out.ReadString('\n')
		if err != nil {
			return r, fmt.Errorf("%s: %w", o.Op, err)
		}
		var took []float64
		if err := json.Unmarshal([]byte(line), &took); err != nil || len(took) != o.Repeats {
			return r, fmt.Errorf("%s: invalid line %q", o.Op, line)
		}
		for i, s := range took {
			r.Seconds[i] = max(r.Seconds[i], s)
		}
	}
	r.Machine = share()
	after, err := f.grid.LinkBytes()
	if err != nil {
		return r, err
	}
	for i, l := range after {
		r.In[l.To] += float64(l.Bytes-before[i].Bytes) / float64(o.Repeats)
	}
	return r, nil
}
