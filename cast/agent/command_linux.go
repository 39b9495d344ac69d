package agent

import "syscall"

// groupOfItsOwn has a command run in a process group of its own, and die with this process.
func groupOfItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
