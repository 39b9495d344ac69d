package cast

import (
	"io"
	"io/fs"
	"log/slog"
	"time"

	"github.com/mobgrid/mob/cast/agent"
)

// Config configures a cast, or with Output a gather.
type Config struct {
	// Source is the path of a file or directory, or "-" for a stream from Stdin.
	Source string
	// Stdin is read when Source is "-".
	Stdin io.Reader
	// Hosts lists the destination hosts. It must be non-empty and without duplicates.
	Hosts []Host
	// Cluster is the cluster of this machine. The default is the cluster of all hosts if they have the same, else a separate one.
	Cluster string

	// Dest is the path on each host, after [Host.Expand], relative to the home directory of the login. With a slash at its end, or
	// for a file if it is a directory, the content is put into it. The default is the name of Source.
	Dest string
	// Exec is a command line for sh on each host, after [Host.Expand], that gets the content on its standard input, instead of
	// Dest.
	Exec string
	// Output reverses the cast: the file or directory at Source of each host is copied to this path on this machine, after
	// [Host.Expand]. With a slash at its end the content is put into it. Source is then relative to the home directory of the login,
	// and Dest, Exec, Force and DropSlow are unused. See [Outputs].
	Output string
	// Umask has the permissions that are taken off the modes of copies at Output.
	Umask fs.FileMode
	// Force replaces existing files at Dest in place: only different pieces are sent. A stream replaces a file at its end. Without
	// Force a host with existing files fails.
	Force bool

	// FollowLinks follows symbolic links that lead out of Source.
	FollowLinks bool

	// Shell is the program that runs command lines on hosts, such as ssh, with its arguments: see [github.com/mobgrid/mob/cast/launch.Shell].
	Shell []string
	// Window bounds the concurrent logins.
	Window int
	// Tree is the number of hosts of a cluster that this machine and each host log in to. 0 means that this machine logs in to all. A
	// host can read the messages for the hosts behind it, with the keys of their nodes.
	Tree int
	// Keep leaves the program on the hosts, for the next cast.
	Keep bool
	// Spool bounds the bytes of a stream on the disk, at the source and on each host.
	Spool int64

	// Deadline ends hosts that are not done that long after the start. 0 means never.
	Deadline time.Duration
	// Min is the number of hosts that must get the content. 0 means no number: then Grace is ignored.
	Min int
	// Grace ends hosts that are not done that long after Min hosts are. If it is negative, the cast waits for all hosts.
	Grace time.Duration
	// DropSlow ends a host that holds a stream back for that long, if the median host was four times as fast before. Min hosts
	// are kept, and the last one. 0 means never.
	DropSlow time.Duration

	// Data is the parent of the temporary directory of the cast, by default [os.TempDir].
	Data string
	// Log receives messages that are not Events.
	Log *slog.Logger
	// Event is called with each change, by one goroutine at a time. It must not block. It may be nil.
	Event func(Event)
}

// Event is a change: one of Host, Output and Source is set.
type Event struct {
	// Index is the index in Config.Hosts, of Host and Output.
	Index int
	// Host is the state of the host.
	Host *HostResult
	// Output is a line printed by Exec.
	Output *string
	// Source is the state of the source.
	Source *Source
}

// Source is the state of the source of a cast.
type Source struct {
	// Length is the size in bytes, -1 for a stream that has not ended, and 0 in a gather.
	Length int64
	// Read is the number of bytes that were hashed.
	Read int64
}

// Phase is the phase of a host. Phases follow in the order below; a host may fail in any.
type Phase string

// The phases of a host.
const (
	Waiting  Phase = "waiting"  // for a login
	Login    Phase = "login"    // the shell connects
	Program  Phase = "program"  // mob-agent is looked up or uploaded
	Start    Phase = "start"    // its node starts
	Fetching Phase = "fetching" // the content arrives
	Done     Phase = "done"     // the content is at Dest or Output, or Exec has exited with status 0
	Failed   Phase = "failed"   // with HostResult.Error
)

// Progress is the part of a [HostResult] that the host reports.
type Progress = agent.Progress

// HostResult is the state of a host, during the cast or at its end. Its Bytes and traffic are zero before the host
// reports them.
type HostResult struct {
	Host
	Progress
	Phase Phase
	// Length is the size of the content of the host in a gather, 0 before it is known.
	Length int64
	// Took is the time from the start of the cast until the host was done or failed, or until now.
	Took time.Duration
	// Exit is the exit status of Exec, nil if it has not exited.
	Exit *int
	// Moved is the time of the last progress: another phase, or more bytes.
	Moved time.Time
	// Error is the reason of a failure in one line, empty without one. Hosts that failed for the same reason have the same
	// text, so it does not name the host.
	Error string
}

// Result is the result of a cast.
type Result struct {
	// Hosts are in the order of Config.Hosts. Each is Done or Failed, unless the cast was interrupted.
	Hosts []HostResult
	// Length is the size of the content in bytes, -1 if it is unknown. In a gather it is the sum of all hosts.
	Length int64
	// DroppedBits is the number of files and directories whose setuid, setgid or sticky bits were dropped.
	DroppedBits int
	// Took is the time from the start of the cast until the last host was done or failed.
	Took time.Duration
}
