// Package stock runs stock BitTorrent clients as systems under comparison: each
// is a [bench.System], with one process per node, a swarm by a tracker on the
// source's node, and settings as someone would make them who owns all of the
// machines and wants the content everywhere soon. Settings that are the client's
// own way of doing things, such as how many peers it serves at a time, stay.
//
// There is no magic to a client here: a [Client] says how its process is started
// so that it seeds for good and tells when it is whole; all else is common.
package stock
