package cast

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/sshd"
)

// site is a grid whose nodes are hosts, except for the first of cluster A, where mob cast runs.
// The hosts do not have the program.
type site struct {
	t      testing.TB
	grid   *netns.Grid
	logins *sshd.Site
	hosts  []*sshd.Host
	// dir is the directory of the user who casts.
	dir string
}

// newSite makes a grid with clusters of these sizes and one rate for all NICs and links.
// Configure, if not nil, may change a host before it starts. The test runs in parallel: links limit it, not the processor.
func newSite(t testing.TB, rate netns.Rate, nodes []int, configure func(name string, c *sshd.Config)) *site {
	t.Helper()
	c := netns.Config{Clusters: netns.Clusters(nodes...)}
	var names []string
	for i := range c.Clusters {
		c.Clusters[i].NIC = rate
		names = append(names, c.Clusters[i].Name)
	}
	c.Links = netns.Uniform(rate, names...)
	return newSiteOn(t, c, configure)
}

// newSiteOn is newSite on another grid. With -stragglers the test runs alone.
func newSiteOn(t testing.TB, c netns.Config, configure func(name string, c *sshd.Config)) *site {
	t.Helper()
	if testing.Short() {
		t.Skip("a test on a grid: not with -short")
	}
	if err := netns.Available(); err != nil {
		t.Skip("no grid: ", err)
	}
	if err := sshd.Missing(); err != nil {
		t.Skip(err)
	}
	if t, ok := t.(*testing.T); ok && !*stragglers {
		t.Parallel()
	}
	if err := build(); err != nil {
		t.Fatal("the programs do not build: ", err)
	}
	grid, err := netns.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := grid.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &site{t: t, grid: grid, dir: t.TempDir()}
	s.logins, err = sshd.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.logins.Close(); err != nil {
			t.Error(err)
		}
	})
	var all []sshd.Config
	for i, cluster := range c.Clusters {
		for n := range cluster.Nodes {
			if i == 0 && n == 0 {
				continue
			}
			node := grid.Node(cluster.Name, n)
			c := sshd.Config{Node: node, Name: node.Name(), Hide: programs}
			if configure != nil {
				configure(c.Name, &c)
			}
			all = append(all, c)
		}
	}
	s.hosts, err = s.logins.StartAll(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// there configures a host that has the same build of the program already.
func there(_ string, c *sshd.Config) { c.Programs = programs }

// host finds a host by its name.
func (s *site) host(name string) *sshd.Host {
	s.t.Helper()
	i := slices.IndexFunc(s.hosts, func(h *sshd.Host) bool { return h.Name == name })
	if i < 0 {
		s.t.Fatal("there is no host ", name)
	}
	return s.hosts[i]
}

// file makes a file of n random bytes in the user's directory and returns its path.
func (s *site) file(name string, n int) string {
	s.t.Helper()
	b := make([]byte, n)
	var seed [32]byte
	copy(seed[:], name)
	_, _ = rand.NewChaCha8(seed).Read(b) // never fails
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o640); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// casting is a running mob cast.
type casting struct {
	t         testing.TB
	proc      *netns.Process
	cmd       *exec.Cmd
	out, errs bytes.Buffer
}

// start runs mob cast with these arguments, and --hosts, --rsh and --json. Stdin may be nil.
func (s *site) start(stdin *os.File, args ...string) *casting {
	s.t.Helper()
	return s.startBy("ssh -F "+s.logins.ClientConfig(), stdin, args...)
}

// startBy is start with another remote shell.
func (s *site) startBy(shell string, stdin *os.File, args ...string) *casting {
	s.t.Helper()
	return s.run("cast", shell, stdin, args...)
}

// run is startBy for cast or gather.
func (s *site) run(command, shell string, stdin *os.File, args ...string) *casting {
	s.t.Helper()
	args = append([]string{command, "--json", "--rsh", shell}, args...)
	clusters := map[string][]string{}
	for _, h := range s.hosts {
		clusters[h.Node.Cluster] = append(clusters[h.Node.Cluster], h.Name)
	}
	for name, hosts := range clusters {
		args = append(args, "--hosts", name+"="+strings.Join(hosts, ","))
	}
	c := &casting{t: s.t, cmd: exec.Command(filepath.Join(programs, "mob"), args...)}
	c.cmd.Dir = s.dir
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TMPDIR=" + s.dir}
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.errs
	if stdin != nil {
		c.cmd.Stdin = stdin
	}
	var err error
	c.proc, err = s.grid.Node("A", 0).Start(c.cmd)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// report is the output of mob cast --json.
type report struct {
	Hosts []result `json:"hosts"`
}

// result is the result of a host.
type result struct {
	Host    string  `json:"host"`
	Cluster string  `json:"cluster"`
	Phase   string  `json:"phase"`
	Bytes   int64   `json:"bytes"`
	WAN     int64   `json:"from_wan"`
	LAN     int64   `json:"from_lan"`
	Seconds float64 `json:"seconds"`
	Exit    *int    `json:"exit"`
	Error   string  `json:"error"`
}

// wait waits for the end and returns the report, by host. The exit status must be status.
func (c *casting) wait(status int) map[string]result {
	c.t.Helper()
	_ = c.proc.Wait() // the status says it
	if got := c.cmd.ProcessState.ExitCode(); got != status {
		c.t.Errorf("exit status %d, want %d: %s", got, status, &c.errs)
	}
	var r report
	if err := json.Unmarshal(c.out.Bytes(), &r); err != nil {
		c.t.Fatalf("%v in %q: %s", err, &c.out, &c.errs)
	}
	all := map[string]result{}
	for _, h := range r.Hosts {
		c.t.Logf("%+v", h)
		all[h.Host] = h
	}
	return all
}

// same checks that a file of hosts, by its path in their home directories, is that at path.
func (s *site) same(path, copied string, hosts ...*sshd.Host) {
	s.t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, h := range hosts {
		got, err := os.ReadFile(filepath.Join(h.Home(), copied))
		if err != nil {
			s.t.Error(err)
		} else if !bytes.Equal(got, want) {
			s.t.Errorf("%s of %s has %d bytes, which differ from the %d of the source", copied, h.Name, len(got), len(want))
		}
	}
}

// without lists the hosts but these.
func (s *site) without(names ...string) []*sshd.Host {
	return slices.DeleteFunc(slices.Clone(s.hosts), func(h *sshd.Host) bool { return slices.Contains(names, h.Name) })
}

// await waits until something holds. Its limit only ends a test that hangs.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("not in five minutes: ", what)
		}
	}
}

// awaitPart waits until a part of a file of a host is on its disk.
func awaitPart(h *sshd.Host, t testing.TB, copied string, bytes int64) {
	t.Helper()
	await(t, fmt.Sprintf("%d bytes of %s on %s", bytes, copied, h.Name), func() bool { return hasPart(h, copied, bytes) })
}

// hasPart reports whether a part of a file of a host is on its disk. The file may be sparse, or have more blocks than bytes.
func hasPart(h *sshd.Host, copied string, bytes int64) bool {
	var st syscall.Stat_t
	return syscall.Stat(filepath.Join(h.Home(), copied), &st) == nil && min(st.Size, st.Blocks*512) >= bytes
}

// cleanAfter waits until the hosts have no processes but their server, and checks that the
// user's directory has only the files given, that those for temporary files are empty, and that
// the caster's is as it was.
func (s *site) cleanAfter(hosts []*sshd.Host, files ...string) {
	s.t.Helper()
	await(s.t, "no process is left on any host", func() bool {
		all, err := s.logins.Processes()
		if err != nil {
			s.t.Fatal(err)
		}
		for _, h := range hosts {
			if len(all[h]) > 0 {
				return false
			}
		}
		return true
	})
	for _, h := range hosts {
		for _, dir := range append(h.Temporary(), h.Home()) {
			for _, name := range list(s.t, dir) {
				if dir != h.Home() || !slices.Contains(files, name) && name != ".bashrc" {
					s.t.Errorf("%s is left on %s", filepath.Join(filepath.Base(dir), name), h.Name)
				}
			}
		}
	}
}

// agents lists the processes of mob on a host.
func agents(t testing.TB, h *sshd.Host) (all []sshd.Process) {
	t.Helper()
	processes, err := h.Processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		if program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.Pid)); err == nil && strings.Contains(program, "mob") {
			all = append(all, p)
		}
	}
	return all
}

// list lists the names in a directory.
func list(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
