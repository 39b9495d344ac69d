// Package netns makes a grid of clusters out of Linux network namespaces, so that programs can run
// and be measured over real kernels' TCP and real, shaped links. The grid is figure 3a of the MOB
// paper:
//
//	cluster A                                        cluster B
//	node 0 --+                                       +-- node 0
//	node 1 --+-- bridge+gateway === bridge+gateway --+-- node 1
//	node 2 --+              \\     //               +-- node 2
//	                       bridge+gateway
//	                          |  |  |   cluster C
//
// With [Cluster.Racks] the nodes of a cluster are on bridges of racks, each with an uplink to the
// gateway's bridge, which is shaped in both directions by [Cluster.Uplink].
//
// Every node and every gateway is a namespace. A veth pair connects a node to its cluster's bridge,
// and another every two gateways. Each direction between gateways is shaped by an HTB class with a
// queue of limited bytes on the sending gateway. With [Cluster.WANNIC], each node has a second veth
// pair to its gateway, past the bridge, for all traffic with other clusters. Rates include
// Ethernet headers: TCP payload gets [TCPShare] of them.
//
// Links have no delay except in their queues, unless [Config.RTT] is set: then each is two tap
// interfaces, shaped in the same way, and this program carries frames between them, each after half
// the round-trip time. Packets are lost in queues only, unless [Config.Loss] is set.
//
// A grid makes nothing in the namespace of its caller, and nothing of it has a name: namespaces are
// held by file descriptors, and the kernel kills processes together with the thread that started
// them. So a grid disappears with the program that made it, also after a crash. One change remains: New
// raises the limits of the kernel's neighbor table (net.ipv4.neigh.default.gc_thresh1 to 3), which all
// namespaces of the machine share, to at least 4096, 8192 and 16384.
//
// A transfer on a grid, compared with the least time that the links allow:
//
//	if err := netns.Available(); err != nil {
//		t.Skip(err)
//	}
//	links := netns.Fast()
//	clusters := netns.Clusters(4, 4, 4, 4)
//	grid, err := netns.New(netns.Config{Clusters: clusters, Links: links})
//	if err != nil {
//		t.Fatal(err)
//	}
//	defer grid.Close()
//	node := grid.Node("B", 0)
//	p, err := node.Start(exec.CommandContext(ctx, "mobd", "--listen", "/ip4/"+node.IP.String()+"/tcp/4001"))
//	...
//	scenario := netns.Mayhem(links, netns.MayhemPeriod, seed)
//	go grid.Play(ctx, scenario)
//	...
//	copies := float64(received) / float64(size) // received: the growth of grid.WANBytes("B")
//	efficiency := float64(netns.IdealTime(scenario, clusters, size)) / float64(took)
//
// Links, scenarios and bounds work on every system; [New] needs Linux and root.
package netns
