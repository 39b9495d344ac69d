package cast

import (
	"io"
	"log/slog"
	"time"
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

// HostResult is what became of a host, so far or at the end.
type HostResult struct {
	Host
	Phase Phase
	// Bytes is how much of the content is there. Of a stream it is what the file or the
	// command has got.
	Bytes int64
	// WAN and LAN are the bytes of content that came from nodes of other sites, the
	// source among them, and from those of the same site. Rack is the part of LAN that came
	// from the same cluster, where its name has several parts.
	WAN, LAN, Rack int64
	// Took is the time from the start of the cast until the host was done or failed, or
	// until now.
	Took time.Duration
	// Exit is the exit status of Exec, nil if it has not exited.
	Exit *int
	// Moved is when the host last made progress: in its phase, or in what it has.
	Moved time.Time
	// Waiting says in words what a host without progress waits for, empty if it does not.
	Waiting string
	// Overwriting says that with Force parts of what was at Dest are overwritten, and that
	// it is not whole. Another cast with Force completes it.
	Overwriting bool
	// Error says in one line why the host failed, empty unless it did. Hosts that failed for
	// the same reason have the same text, so it does not name the host.
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
