// Package launch runs a program on hosts where nothing is installed, by a remote shell such as ssh,
// and talks to it on its standard input and output.
//
// On each host a script (launch.sh) looks for the program of the same build: at the caster's own
// path, in $PATH, in the cache. A file there is copied, and the copy runs if it has the SHA-256 of the
// program. Otherwise it requests the program, which comes by the
// remote shell, or over HTTP from a neighbor that has it already. Into each cluster the program
// goes once; every host that has it serves one neighbour at a time. It travels without what only
// debuggers need, compressed, and is not run unless its SHA-256 is that which the caster told. The
// script creates a temporary directory for itself and the program, and removes it when the program ends. Other
// users of the host can read the command line, so the name of the directory comes on standard input.
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
