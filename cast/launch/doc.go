// Package launch starts mob-agent on remote hosts over ssh, and exchanges messages with it on standard input and output.
//
// On each host a script (launch.sh) looks for the program of the same build: at the caster's own path, in $PATH, and in the cache.
// It copies the file, and runs the copy if that has the SHA-256 of the program. Otherwise it requests the program over the remote
// shell, or over HTTP from a neighbor that has it. The program enters each cluster once: every host that has it serves one
// neighbor at a time. It is sent compressed, without debugging sections, and runs only if it has the SHA-256 that the caster
// sent. The script creates a temporary directory, and removes it when the program exits. Other users of the host can read the command
// line, so the name of the directory is sent on standard input.
//
//	caster                                host
//	  | -- RSH HOST COMMANDLINE --------> |  script
//	  | -- NAME of the directory -------> |  creates the directory
//	  | <---- {"need":"Linux x86_64"} --- |  the host needs the program
//	  | -- put HASH SIZE, the archive --> |  or
//	  | -- get HASH SIZE PATH ADDR... --> |  from a neighbor
//	  | <------------- {"failed":true} -- |  the caster tries something else
//	  | <--------------- {"got":true} --- |  the hash is right
//	  | <--- {"hello":{path, addrs}} ---- |  the program runs: see Serve
//	  | -- lines of JSON ---------------> |
//	  | <-------------------- records --- |
//
// With Config.Children the remote shell of most hosts runs on another host, whose program is a [Relay]: script, archive and messages pass
// through it in frames. If it is lost, the caster logs in again and attaches to the running program by two FIFOs.
//
// A host sends records of JSON text sequences (RFC 7464): 0x1E, JSON, a newline. Other bytes on its standard output are ignored, as
// shells print greetings there.
package launch
