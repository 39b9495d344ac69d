// Package launch runs a program on hosts where nothing is installed, by a remote shell such as ssh,
// and talks to it on its standard input and output.
//
// On each host a script (launch.sh) looks for the program of the same build: at the caster's own
// path, in $PATH, in the cache. A file with the size and time of the program that only root and the user can change runs in
// place. Any other file is copied, and the copy runs if it has the SHA-256 of the program. Otherwise the script requests the
// program, over the remote shell or over HTTP from a neighbor that has it. The program enters each cluster once: every host
// that has it serves one neighbor at a time. It is sent compressed, without debugging sections, and runs only if it has the
// SHA-256 that the caster sent. The script creates a temporary directory for itself and the program, and removes it when the
// program ends. Other users of the host can read the command line, so the name of the directory comes on standard input.
//
//	caster                                host
//	  | -- RSH HOST COMMANDLINE --------> |  script
//	  | -- NAME of the directory -------> |  creates the directory
//	  | <---- {"need":"Linux x86_64"} --- |  the program is not there
//	  | -- put HASH SIZE, the archive --> |  or
//	  | -- get HASH SIZE PATH ADDR... --> |  from a neighbor
//	  | <------------- {"failed":true} -- |  the caster tries something else
//	  | <--------------- {"got":true} --- |  the hash is right
//	  | <--- {"hello":{path, addrs}} ---- |  the program runs: see Serve
//	  | -- lines of JSON ---------------> |
//	  | <-------------------- records --- |
//
// What a host sends are records of JSON text sequences (RFC 7464): 0x1E, JSON, a newline. All else on its
// standard output is ignored, as shells print greetings there.
package launch
