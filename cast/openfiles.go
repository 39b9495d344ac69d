package cast

import (
	"fmt"
	"syscall"
)

const (
	// filesPerLogin is the number of open files for a login: three pipes and a process.
	filesPerLogin = 4
	// otherFiles is the number of open files in addition to logins and a connection for each host.
	otherFiles = 64
)

// openFiles returns the number of open files that a cast may need.
func openFiles(cfg *Config) int {
	logins, children := 0, map[string]int{}
	for _, h := range cfg.Hosts {
		if children[h.Cluster]++; cfg.Tree == 0 || children[h.Cluster] <= cfg.Tree {
			logins++
		}
	}
	return otherFiles + len(cfg.Hosts) + filesPerLogin*logins
}

// checkOpenFiles fails if this process may not open the files that a cast needs. Otherwise some hosts would fail during the cast.
func checkOpenFiles(cfg *Config) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if need := openFiles(cfg); uint64(need) > limit.Cur {
		return fmt.Errorf("%d hosts take up to %d open files, and the limit is %d: raise it with `ulimit -n`, or use --tree",
			len(cfg.Hosts), need, limit.Cur)
	}
	return nil
}
