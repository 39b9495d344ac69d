// Package sshd makes hosts of the nodes of a grid, which people log in to: each has its own
// processes, home directory and temporary directories in addition to its network, and an OpenSSH server
// from the system's package. The rest of the file system is the machine's.
//
// A host is a process with its own namespaces, and everything on it ends with that. Like
// the grid it disappears with the program that made it, also after a crash.
//
//	site, err := sshd.New(t.TempDir())
//	...
//	host, err := site.Start(sshd.Config{Node: grid.Node("B", 0)})
//	...
//	out, err := exec.Command("ssh", "-F", site.ClientConfig(), host.Name, "hostname").Output()
//
// Such a command must run in a node, by [netns.Node.Start], to reach the hosts.
package sshd
