package cast

import (
	"io"
	"log/slog"
	"time"

	"github.com/mobgrid/mob/cast/agent"
)

// Config says what a cast sends, to whom, and how.
type Config struct {
	// Source is the path of a file or folder, or "-" for a stream, which is read from
	// Stdin.
	Source string
	// Stdin is read when Source is "-".
	Stdin io.Reader
	// Hosts are who gets the content: at least one, none twice.
	Hosts []Host
	// Cluster is that of this machine, from which its hosts get the content as from a
	// neighbour. Empty means one of its own, or the hosts' if they are all of one.
	Cluster string

	// Dest is the path on each host, after [Host.Expand]; relative paths are within the
	// home folder of the login. With a slash at its end, or if it is a folder already, the
	// content goes into it under its own name. Empty means the name of Source, in the home
	// folder.
	Dest string
	// Exec is a command line for the shell of each host, after [Host.Expand]. It gets the
	// content on its standard input in place of a file at Dest.
	Exec string
	// Force takes over what is at Dest, in place: only what differs is sent. Without it a host
	// that has something there fails.
	Force bool

	// FollowLinks takes what symbolic links lead to out of Source.
	FollowLinks bool

	// Shell is the command that runs a command line on a host, with its arguments: it is
	// called as Shell... HOST COMMANDLINE.
	Shell []string
	// Window is how many logins may be under way at once.
	Window int
	// Keep leaves the program on the hosts, for the next cast.
	Keep bool
	// Spool bounds the bytes of a stream that wait on a disk, at the source and on each
	// host.
	Spool int64

	// Data is where the temporary folder of the cast is made; empty means that of the
	// system.
	Data string
	// Log is for what has no place in an Event.
	Log *slog.Logger
	// Event is told what changes, by one goroutine at a time. It must not block. May be nil.
	Event func(Event)
}

// Event is something that happened: one of Host, Output and Source is set.
type Event struct {
	// Index is the place in Config.Hosts of the host of Host and Output.
	Index int
	// Host is how the host is now.
	Host *HostResult
	// Output is a line that Exec printed there.
	Output *string
	// Source is how the source is now.
	Source *Source
}

// Source is how far the source of a cast is.
type Source struct {
	// Length is the size in bytes, -1 for a stream that has not ended.
	Length int64
	// Read is how many bytes were hashed.
	Read int64
}

// Phase is how far a host is. Phases only move on, in the order below; a host may fail in
// any.
type Phase string

// The phases of a host.
const (
	Waiting  Phase = "waiting"  // for a place in the window
	Login    Phase = "login"    // the shell connects
	Program  Phase = "program"  // mob-agent is looked for, or brought
	Start    Phase = "start"    // its node starts
	Fetching Phase = "fetching" // the content arrives
	Done     Phase = "done"     // all is at Dest, or Exec has ended with status 0
	Failed   Phase = "failed"   // HostResult.Error says why
)

// Progress is the part of a [HostResult] that the host reports.
type Progress = agent.Progress

// HostResult is the state of a host, during the cast or at its end. Its Bytes and traffic are zero before the host
// reports them.
type HostResult struct {
	Host
	Progress
	Phase Phase
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

// Result is what became of a cast.
type Result struct {
	// Hosts are in the order of Config.Hosts. Each is Done or Failed, unless the cast was
	// cut short.
	Hosts []HostResult
	// Length is the size of the content in bytes, -1 if it is not known.
	Length int64
	// DroppedBits counts files and directories that hosts get without their setuid, setgid or sticky bit.
	DroppedBits int
	// Took is the time from the start of the cast until the last host was done or failed.
	Took time.Duration
}
