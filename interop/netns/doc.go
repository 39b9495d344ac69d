// Package netns builds a grid of clusters out of Linux network namespaces, so that built binaries can be run and measured over
// real kernels' TCP and real, shaped links. The grid is figure 3a of the MOB paper:
//
//	cluster A                                        cluster B
//	node 0 --+                                       +-- node 0
//	node 1 --+-- bridge+gateway === bridge+gateway --+-- node 1
//	node 2 --+              \\     //               +-- node 2
//	                       bridge+gateway
//	                          |  |  |   cluster C
//
// Every node and every gateway is a namespace of its own. A node hangs on its cluster's bridge by a veth pair; gateways are
// meshed by one veth pair per pair of clusters, and each direction is shaped by an HTB class with a byte-limited queue on
// the sending gateway. With [Cluster.WANNIC], each node has a second veth pair to its gateway, past the bridge, for all that is not
// of its own cluster. Rates are those of the link, Ethernet headers included: TCP payload gets [TCPShare] of them.
//
// Nothing is made in the namespace of the caller, and nothing has a name: namespaces are held by file descriptors, processes
// are killed by the kernel with the thread that started them. So a grid disappears with its owner, also after a crash.
//
// A grid with a transfer in it, for the least time the links allow:
//
//	if err := netns.Available(); err != nil {
//		t.Skip(err)
//	}
//	grid, err := netns.New(netns.Config{Clusters: netns.Clusters(4, 4, 4, 4), Links: netns.Fast()})
//	if err != nil {
//		t.Fatal(err)
//	}
//	defer grid.Close()
//	node := grid.Node("B", 0)
//	p, err := node.Start(exec.CommandContext(ctx, "mobd", "--listen", "/ip4/"+node.IP.String()+"/tcp/4001"))
//	...
//	scenario, err := netns.Standard("mayhem", "A", size, seed)
//	go grid.Play(ctx, scenario)
//	...
//	copies := float64(received) / float64(size) // received: what grid.WANBytes("B") grew by
//	efficiency := float64(netns.IdealTime(scenario, "A", size)) / float64(took)
//
// The arithmetic (links, scenarios, bounds) builds everywhere; [New] works on Linux as root and says so elsewhere.
//
// Links have a rate and a queue, and a length only with [Config.RTT]: then each is two tap interfaces, shaped alike, and this
// program carries frames from one to the other, each after half the round trip. No packet is lost but in queues.
package netns
