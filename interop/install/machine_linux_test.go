package install

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bootScript makes the root of a machine: the root of this one, read-only, below a layer in
// memory. Namespaces of all kinds except the user namespace keep the rest apart. Of the kernel's
// settings the machine can change only those for its network. Mounts are shared, as systemd has them on a host. It starts only the units that
// the test requests, and it has no capability that reaches the clock, modules or devices.
const bootScript = `set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
root="$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$root"
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount --bind "$root/proc/sys/net" "$root/proc/sys/net"
mount -o remount,bind,ro "$root/proc/sys"
mount --bind /dev/null "$root/proc/sysrq-trigger" 2>/dev/null || true
mount -t sysfs -o ro sysfs "$root/sys" || mount -t tmpfs tmpfs "$root/sys"
mkdir -p "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for dev in null zero full random urandom tty; do
  touch "$root/dev/$dev"
  mount --bind "/dev/$dev" "$root/dev/$dev"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
units="$root/etc/systemd/system"
for wanted in "$root"/lib/systemd/system/*.wants/* "$units"/*.wants/*; do
  case "$wanted" in *.target) ;; *) ln -sf /dev/null "$units/${wanted##*/}" ;; esac
done
: >"$root/etc/fstab"
printf '[Unit]\nDefaultDependencies=no\n' >"$units/machine.target"
ip link set lo up
cd "$root"
pivot_root . mnt
umount -l /mnt
mount --make-rshared /
exec chroot . setpriv \
  --bounding-set -sys_time,-sys_module,-sys_rawio,-mknod,-syslog,-wake_alarm,-mac_admin,-mac_override \
  env -i container=mob PATH="$PATH" \
  /lib/systemd/systemd --unit=machine.target --log-target=null --show-status=no
`

// machine is its own system on this one: its own systemd, files, processes and network.
// Everything there is removed with it.
type machine struct {
	t    *testing.T
	init int    // process id of its systemd, as seen from here
	root string // its files, as seen from here
}

// boot starts a machine, and ends it with the test. It skips the test where that cannot be.
func boot(t *testing.T) *machine {
	t.Helper()
	if testing.Short() {
		t.Skip("boots a machine: not with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("booting a machine needs root")
	}
	for _, program := range []string{"/lib/systemd/systemd", "unshare", "nsenter", "setpriv", "ip", "tc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("booting a machine needs systemd, util-linux and iproute2: ", err)
		}
	}
	cmd := exec.Command("unshare", "--mount", "--pid", "--net", "--cgroup", "--uts", "--ipc", "--fork", "--kill-child",
		"--mount-proc", "sh", "-c", bootScript, "boot", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // the test may be killed
	var errs bytes.Buffer
	cmd.Stderr = &errs
	runtime.LockOSThread() // whose end is what kills it
	if err := cmd.Start(); err != nil {
		t.Skip("the machine did not boot: ", err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
	m := &machine{t: t}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		select {
		case <-done:
			t.Skip("the machine did not boot: ", strings.TrimSpace(errs.String()))
		case <-time.After(50 * time.Millisecond):
		}
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid, cmd.Process.Pid))
		if _, err := fmt.Sscan(string(children), &m.init); err != nil {
			continue
		}
		m.root = fmt.Sprintf("/proc/%d/root", m.init)
		if _, err := os.Stat(filepath.Join(m.root, "run/systemd/private")); err == nil {
			return m
		}
	}
	t.Skip("the machine did not boot: systemd did not start: ", errs.String())
	return nil
}

// path is the place where a file of the machine is seen from here.
func (m *machine) path(name string) string { return filepath.Join(m.root, name) }

// command is a program on the machine, run by a user.
func (m *machine) command(ctx context.Context, user string, args ...string) *exec.Cmd {
	enter := []string{"--target", fmt.Sprint(m.init), "--mount", "--pid", "--net", "--cgroup", "--uts", "--ipc",
		"--root", "--wd"}
	if user != "root" {
		enter = append(enter, "runuser", "-u", user, "--")
	}
	cmd := exec.CommandContext(ctx, "nsenter", append(enter, args...)...)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
		"DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8"}
	return cmd
}

// try runs a program on the machine, and returns what it printed.
func (m *machine) try(user string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(m.t.Context(), time.Minute)
	defer cancel()
	out, err := m.command(ctx, user, args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// run is try of what must succeed, as root.
func (m *machine) run(args ...string) string {
	m.t.Helper()
	out, err := m.try("root", args...)
	if err != nil {
		m.t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

// write writes a file of the machine.
func (m *machine) write(name, text string) {
	m.t.Helper()
	m.run("mkdir", "-p", filepath.Dir(name))
	if err := os.WriteFile(m.path(name), []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// there reports whether the machine has a file.
func (m *machine) there(name string) bool {
	_, err := os.Lstat(m.path(name))
	return err == nil
}

// await waits until something holds.
func (m *machine) await(what string, holds func() bool) {
	m.t.Helper()
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	m.t.Fatal("not in time: ", what)
}
