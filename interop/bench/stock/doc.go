// Package stock runs stock BitTorrent clients, and trackers for them, on the nodes of a
// grid. The settings are the settings of someone who owns all of the machines and requires the
// content everywhere soon: a client finds all peers, accepts connections from all of them,
// and seeds for good. Policies of the client, such as its number of upload slots, keep
// their defaults.
//
// A [Client] knows how its program is started, its settings, and how it reports
// that a download is complete. All else is common to the clients.
package stock
